package dev.sluice.threats;

import dev.sluice.Boundary;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PushedForm;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** A measurement of the heap that forms use: live objects after a garbage collection. */
final class Memory {
    private static final MemoryMXBean HEAP = ManagementFactory.getMemoryMXBean();

    /** A charge in bytes that is so large that changes of the rest of the heap are negligible. */
    private static final long ENOUGH = 12 << 20;

    private Memory() {}

    static long live() {
        long least = Long.MAX_VALUE;
        for (int attempt = 0; attempt < 3; attempt++) {
            System.gc();
            least = Math.min(least, HEAP.getHeapMemoryUsage().getUsed());
        }
        return least;
    }

    /** {@return the heap used by forms, as a multiple of the charged bytes} */
    static double overhead(FormOptions options, Supplier<InputStream> body) throws IOException {
        PushedForm.read(body.get(), Boundary.of("x"), options).close();
        List<MultipartForm> forms = new ArrayList<>();
        long before = live();
        long chargedBefore = options.memory().used();
        do {
            forms.add(PushedForm.read(body.get(), Boundary.of("x"), options));
        } while (options.memory().used() - chargedBefore < ENOUGH);
        double overhead = (double) (live() - before) / (options.memory().used() - chargedBefore);
        for (MultipartForm form : forms) {
            form.close();
        }
        return overhead;
    }
}

package dev.sluice.fuzz;

import dev.sluice.Preset;
import dev.sluice.form.FormOptions;
import dev.sluice.form.FormPart;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PushedForm;
import dev.sluice.form.SpoolDirectory;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;

/**
 * Forms with parts in memory, in files and in sinks, and with skipped, rejected and peeked parts. In some runs, a call
 * to the disk, a sink or the application fails, the disk is full, a quota, budget or memory limit is exceeded, the body
 * ends early, or the form is aborted. In all runs nothing is leaked, no target file is incomplete, and the form agrees
 * with the decoder, except with the preset COMPATIBLE.
 */
public final class FormTarget {
    /** The number of choice bytes, which precede the bytes for {@link Setup}. */
    static final int HEAD = 1 + FaultPlan.HEAD;

    /** Up to a sixteenth of the memory for content may be unused: one byte for every 15 bytes of content. */
    private static final int BYTES_PER_FREE_ONE = 15;

    private static final UnpooledByteBufAllocator ALLOCATOR = Setup.countingAllocator();

    private final Disk disk;
    private final FaultPlan faultPlan;
    private final Setup setup;
    private final Source source;
    private final int end;
    private final SpoolDirectory spool;
    private final MemoryBudget budget;
    private final FormOptions options;
    private final SplittableRandom random;

    private FormTarget(Disk disk, Input in) {
        this.disk = disk;
        int first = in.next();
        this.end = first & 7;
        this.spool = disk.spool((first & 8) != 0);
        this.faultPlan = new FaultPlan(in, disk, spool);
        this.setup = Setup.of(in);
        this.source = setup.source();
        this.random = setup.cuts();
        this.budget = faultPlan.budget(0);
        this.options = faultPlan
                .options(FormOptions.builder(spool, budget, FaultPlan.common(setup, ALLOCATOR)))
                .build();
    }

    /** Called by the fuzzer. */
    public static void fuzzerTestOneInput(byte[] bytes) throws IOException {
        Disk disk = Disk.take();
        FormTarget run = new FormTarget(disk, new Input(bytes));
        if (run.setup.boundary().isFormData()) {
            run.run();
            run.requireNothingLeft();
        }
        disk.giveBack();
    }

    private void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what + "\nend " + end + ", " + faultPlan + "\n" + setup);
        }
    }

    private void run() throws IOException {
        DecodedBody decoded =
                new DecodedBody(setup.boundary(), options.multipart(), source.slice(0, source.size()), true);
        faultPlan.begin();
        try (PushedForm assembler = PushedForm.create(setup.boundary(), options, source.size())) {
            if (feed(assembler)) {
                form(assembler, decoded);
            }
            require(
                    assembler.intake().demand() <= options.maxDrainBytes() + 1,
                    "more of the rest is requested than maxDrainBytes");
        } catch (BrokenApplication e) {
            require(faultPlan.hasBug(), "the application threw although it has no bug");
        } catch (IOException e) {
            require(e.getMessage() != null, "an exception without a message: " + e.getClass());
        }
        disk.noFaults();
        String broken = faultPlan.brokenTarget(disk.takeTargets(), decoded.parts(), setup.preset());
        require(broken.isEmpty(), broken + " is incomplete");
    }

    /** Feeds the body, or its beginning. {@return whether the form should be finished} */
    private boolean feed(PushedForm assembler) throws IOException {
        int to = end < 5 ? source.size() : random.nextInt(source.size() + 1);
        int shift = random.nextInt(8);
        for (int at = 0; at < to; ) {
            int next = Math.min(to, at + 1 + (random.nextInt(512) >> shift));
            assembler.feed(source.slice(at, next));
            at = next;
        }
        if (end == 5 || end == 6) {
            assembler.close();
            if (end == 6) {
                assembler.close();
            }
            return false;
        }
        return true;
    }

    private void form(PushedForm assembler, DecodedBody decoded) throws IOException {
        try (MultipartForm form = assembler.finish()) {
            boolean refused = decoded.failure() != null;
            require(
                    !refused || setup.preset() == Preset.COMPATIBLE || end == 7,
                    "the form was accepted although the decoder rejects it");
            if (setup.preset() != Preset.COMPATIBLE && !refused) {
                compare(form, decoded.parts());
            }
            if (!form.parts().isEmpty() && (faultPlan.application() & 2) != 0) {
                move(form.parts().get(0));
            }
            if (form.parts().size() > 1 && (faultPlan.application() & 4) != 0) {
                form.parts().get(1).detach().close();
            }
        }
    }

    private void compare(MultipartForm form, List<DecodedBody.Part> expected) throws IOException {
        List<DecodedBody.Part> kept =
                expected.stream().filter(part -> faultPlan.isKept(part.index())).toList();
        require(form.parts().size() == kept.size(), "parts: " + form.parts());
        long charged = expected.stream()
                .filter(part -> faultPlan.isKept(part.index()) || faultPlan.isRefused(part.index()))
                .mapToLong(DecodedBody.Part::charge)
                .sum();
        long inMemory = form.parts().stream()
                .filter(FormPart::isInMemory)
                .mapToLong(FormPart::size)
                .sum();
        long beyond = budget.used() - charged - inMemory;
        require(
                beyond >= 0 && beyond <= inMemory / BYTES_PER_FREE_ONE,
                budget.used() + " bytes are charged, expected " + charged + " and the memory of " + inMemory);
        for (int i = 0; i < kept.size(); i++) {
            FormPart part = form.parts().get(i);
            DecodedBody.Part wanted = kept.get(i);
            require(
                    wanted.name().equals(part.name())
                            && Objects.equals(wanted.filename(), part.filename())
                            && part.size() == wanted.content().length,
                    "wrong part: " + part);
            requireContent(part, wanted.content());
        }
    }

    private void requireContent(FormPart part, byte[] wanted) throws IOException {
        try (InputStream in = part.inputStream()) {
            require(Arrays.equals(wanted, in.readAllBytes()), "wrong content of " + part);
        }
    }

    /** A part that could not be moved must still have its content. */
    private void move(FormPart part) throws IOException {
        byte[] before;
        try (InputStream in = part.inputStream()) {
            before = in.readAllBytes();
        }
        Path moved = disk.targets().resolve("moved");
        try {
            part.moveTo(moved);
        } catch (IOException e) {
            disk.noFaults();
            requireContent(part, before);
            return;
        }
        disk.noFaults();
        require(Arrays.equals(before, Files.readAllBytes(moved)), "the moved file has wrong content");
    }

    private void requireNothingLeft() throws IOException {
        require(source.held() == 0, source.held() + " slices are held");
        require(ALLOCATOR.metric().usedHeapMemory() == 0, "memory is held");
        require(budget.used() == 0, budget.used() + " bytes are charged");
        String left = disk.left(spool);
        require(left.isEmpty(), left);
    }
}

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
 * Forms, with parts in memory, in files, in sinks, skipped, refused, looked at, while a call of the disk fails, the disk is full, the
 * quota, the budget or the memory of a form is used up, a sink or the application fails, the body ends early or the form is aborted:
 * whatever happens, nothing is left, no target is there by halves, and what the form holds is what the decoder says.
 */
public final class FormTarget {
    /** Bytes that choose, in front of those of {@link Setup}. */
    static final int HEAD = 1 + Mishaps.HEAD;

    /** Content may leave up to a sixteenth of its memory free: one byte for each so many of its own. */
    private static final int BYTES_PER_FREE_ONE = 15;

    private static final UnpooledByteBufAllocator ALLOCATOR = Setup.countingAllocator();

    private final Disk disk;
    private final Mishaps mishaps;
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
        this.mishaps = new Mishaps(in, disk, spool);
        this.setup = Setup.of(in);
        this.source = setup.source();
        this.random = setup.cuts();
        this.budget = mishaps.budget(0);
        this.options = mishaps.options(FormOptions.builder(spool, budget, Mishaps.common(setup, ALLOCATOR)))
                .build();
    }

    /** For the fuzzer. */
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
            throw new AssertionError(what + "\nend " + end + ", " + mishaps + "\n" + setup);
        }
    }

    // ---- a run

    private void run() throws IOException {
        DecodedBody decoded =
                new DecodedBody(setup.boundary(), options.multipart(), source.slice(0, source.size()), true);
        mishaps.begin();
        try (PushedForm assembler = PushedForm.create(setup.boundary(), options, source.size())) {
            if (feed(assembler)) {
                form(assembler, decoded);
            }
            require(assembler.intake().demand() <= options.maxDrainBytes() + 1, "more is dropped than is worth it");
        } catch (BrokenApplication e) {
            require(mishaps.hasBug(), "no bug was asked for");
        } catch (IOException e) {
            require(e.getMessage() != null, "an exception without a message: " + e.getClass());
        }
        disk.noFaults();
        String broken = mishaps.brokenTarget(disk.takeTargets(), decoded.parts(), setup.preset());
        require(broken.isEmpty(), broken + " is not whole");
    }

    /** {@return whether the form is to be finished} */
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
            require(!refused || setup.preset() == Preset.COMPATIBLE || end == 7, "the decoder refuses this");
            if (setup.preset() != Preset.COMPATIBLE && !refused) {
                compare(form, decoded.parts());
            }
            if (!form.parts().isEmpty() && (mishaps.application() & 2) != 0) {
                move(form.parts().get(0));
            }
            if (form.parts().size() > 1 && (mishaps.application() & 4) != 0) {
                form.parts().get(1).detach().close();
            }
        }
    }

    private void compare(MultipartForm form, List<DecodedBody.Part> expected) throws IOException {
        List<DecodedBody.Part> kept =
                expected.stream().filter(part -> mishaps.isKept(part.index())).toList();
        require(form.parts().size() == kept.size(), "parts: " + form.parts());
        long charged = expected.stream()
                .filter(part -> mishaps.isKept(part.index()) || mishaps.isRefused(part.index()))
                .mapToLong(DecodedBody.Part::charge)
                .sum();
        long inMemory = form.parts().stream()
                .filter(FormPart::isInMemory)
                .mapToLong(FormPart::size)
                .sum();
        long beyond = budget.used() - charged - inMemory;
        require(
                beyond >= 0 && beyond <= inMemory / BYTES_PER_FREE_ONE,
                budget.used() + " bytes are charged, not " + charged + " and what " + inMemory + " in memory take");
        for (int i = 0; i < kept.size(); i++) {
            FormPart part = form.parts().get(i);
            DecodedBody.Part wanted = kept.get(i);
            require(
                    wanted.name().equals(part.name())
                            && Objects.equals(wanted.filename(), part.filename())
                            && part.size() == wanted.content().length,
                    "another part: " + part);
            requireContent(part, wanted.content());
        }
    }

    private void requireContent(FormPart part, byte[] wanted) throws IOException {
        try (InputStream in = part.inputStream()) {
            require(Arrays.equals(wanted, in.readAllBytes()), "other content of " + part);
        }
    }

    /** A part that could not be moved is still what it was. */
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
        require(Arrays.equals(before, Files.readAllBytes(moved)), "other content was moved");
    }

    // ---- afterwards

    private void requireNothingLeft() throws IOException {
        require(source.held() == 0, source.held() + " slices are held");
        require(ALLOCATOR.metric().usedHeapMemory() == 0, "memory is held");
        require(budget.used() == 0, budget.used() + " bytes are charged");
        String left = disk.left(spool);
        require(left.isEmpty(), left);
    }
}

package dev.sluice.fuzz;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Jimfs;
import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartException;
import dev.sluice.Preset;
import dev.sluice.form.FileSink;
import dev.sluice.form.FormAssembler;
import dev.sluice.form.FormOptions;
import dev.sluice.form.FormPart;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartDecision;
import dev.sluice.form.PartHead;
import dev.sluice.form.PartSink;
import dev.sluice.form.SpillSink;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.testkit.FaultyFileSystem;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Forms, with parts in memory, in files, in sinks, skipped, refused, looked at, while a call of the disk fails, the disk is full, the
 * quota, the budget or the memory of a form is used up, a sink or the application fails, the body ends early or the form is aborted:
 * whatever happens, nothing is left, no target is there by halves, and what the form holds is what the decoder says.
 */
public final class FormTarget {
    /** Octets that choose, in front of those of {@link Setup}. */
    static final int HEAD = 7;

    private static final UnpooledByteBufAllocator ALLOCATOR = Setup.countingAllocator();
    private static final long SMALL_QUOTA = 60;
    private static final int NO_FAULT = -1;
    private static @Nullable World world;

    /** Lives as long as nothing has gone wrong. */
    private static final class World {
        final FaultyFileSystem disk = new FaultyFileSystem(Jimfs.newFileSystem(Configuration.unix().toBuilder()
                .setAttributeViews("basic", "owner", "posix")
                .setMaxSize(1 << 20)
                .setBlockSize(256)
                .build()));
        final Path targets = disk.getPath("/targets");
        final SpoolDirectory large;
        final SpoolDirectory small;

        World() throws IOException {
            Files.createDirectories(targets);
            large = SpoolDirectory.builder(disk.getPath("/large"))
                    .keepFreeBytes(0)
                    .open();
            small = SpoolDirectory.builder(disk.getPath("/small"))
                    .keepFreeBytes(0)
                    .maxBytes(SMALL_QUOTA)
                    .open();
        }
    }

    private static final class BrokenApplication extends RuntimeException {
        private static final long serialVersionUID = 1L;

        BrokenApplication() {
            super("a bug of the application", null, false, false);
        }
    }

    /** @param charge for a part that the form knows of, beside its content: what {@link FormOptions#maxInMemoryBytes()} says */
    private record Part(int index, String name, @Nullable String filename, long charge, byte[] content) {}

    private final World around;
    private final Setup setup;
    private final Source source;
    private final int end;
    private final int fault;
    private final int space;
    private final int decisions;
    private final int sinkOctets;
    private final SpoolDirectory spool;
    private final MemoryBudget budget;
    private final FormOptions options;
    private final SplittableRandom random;

    private FormTarget(World around, Input in) {
        this.around = around;
        int first = in.next();
        this.end = first & 7;
        this.spool = (first & 8) == 0 ? around.large : around.small;
        this.fault = in.next();
        this.space = in.next();
        int sizes = in.next();
        this.decisions = in.next() << 8 | in.next();
        this.sinkOctets = in.next();
        this.setup = Setup.of(in);
        this.source = setup.source();
        this.random = setup.cuts();
        this.budget = MemoryBudget.of(sizes >> 6 == 3 ? 9 << 10 : 1 << 20, 0, 0);
        this.options = FormOptions.builder(spool, budget)
                .multipart(multipart -> setup.options(ALLOCATOR).toBuilder())
                .limits(limits -> setup.decoderLimits().toBuilder().maxFieldBytes(24))
                .spillThreshold((sizes & 15) * 4L)
                .maxInMemoryBytes((sizes >> 4 & 3) == 3 ? 1400 : 1 << 20)
                .decider(this::decide)
                .build();
    }

    /** For the fuzzer. */
    public static void fuzzerTestOneInput(byte[] octets) throws IOException {
        World before = world == null ? new World() : world;
        world = null; // unless nothing goes wrong
        FormTarget run = new FormTarget(before, new Input(octets));
        if (run.setup.boundary().isFormData()) {
            run.run();
            run.requireNothingLeft();
        }
        world = before;
    }

    private void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what + "\nend " + end + ", fault " + fault + ", space " + space + ", decisions "
                    + decisions + ", sink " + sinkOctets + ", threshold " + options.spillThreshold() + ", in memory "
                    + options.maxInMemoryBytes() + ", budget " + budget.capacity() + ", quota " + spool.maxBytes()
                    + "\n" + setup);
        }
    }

    // ---- what the application does

    private int kindOf(int part) {
        return decisions >> 3 * (part % 5) & 7;
    }

    private PartDecision decide(PartHead part) {
        return switch (kindOf(part.index())) {
            case 1 -> PartDecision.memory();
            case 2 -> PartDecision.to(FileSink.create(spool, target(part.index())));
            case 3 -> PartDecision.to(new BrokenSink(sinkOctets));
            case 4 -> (sinkOctets & 1) == 0 ? PartDecision.skip() : PartDecision.refuse(415, "not this one");
            case 5 ->
                PartDecision.look(1 + sinkOctets % 16, octets -> {
                    if (sinkOctets == 255) {
                        throw new BrokenApplication();
                    }
                    return PartDecision.spill();
                });
            case 6 -> {
                if (sinkOctets < 16) {
                    throw new BrokenApplication();
                }
                yield sinkOctets < 32 ? PartDecision.refuseForm(403, "not this form") : PartDecision.spill();
            }
            default -> PartDecision.spill();
        };
    }

    private boolean isKept(int part) {
        int kind = kindOf(part);
        return kind != 2 && kind != 3 && kind != 4;
    }

    private boolean isRefused(int part) {
        return kindOf(part) == 4 && (sinkOctets & 1) != 0;
    }

    private Path target(int part) {
        return around.targets.resolve("t" + part);
    }

    /** Fails after some octets, and holds what it was given until it is closed. */
    private static final class BrokenSink implements PartSink {
        private final List<ByteBuf> held = new ArrayList<>();
        private int left;

        BrokenSink(int octets) {
            this.left = octets;
        }

        @Override
        public void write(ByteBuf data) throws IOException {
            left -= data.readableBytes();
            held.add(data.retainedSlice());
            if (left < 0) {
                throw new IOException("the sink is broken");
            }
        }

        @Override
        public void complete() throws IOException {
            if (left == 0) {
                throw new IOException("the sink cannot complete");
            }
        }

        @Override
        public void close() {
            held.forEach(ByteBuf::release);
            held.clear();
        }
    }

    // ---- a run

    private void run() throws IOException {
        List<Part> expected = decoded();
        around.disk.faults(
                fault < 128 ? NO_FAULT : fault - 128,
                space < 192 ? Long.MAX_VALUE : (space - 192) * 4L,
                (space & 7) == 1 ? 3 : Integer.MAX_VALUE);
        try (FormAssembler assembler = FormAssembler.create(setup.boundary(), options)) {
            assembler.expectedBytes(source.size());
            if (feed(assembler)) {
                form(assembler, expected);
            }
            assembler.ending();
        } catch (BrokenApplication e) {
            require(sinkOctets == 255 || sinkOctets < 16, "no bug was asked for");
        } catch (IOException e) {
            require(e.getMessage() != null, "an exception without a message: " + e.getClass());
        }
        around.disk.noFaults();
        requireWholeTargets(expected);
    }

    /** {@return what the decoder says of the body, or null where it refuses it} */
    private @Nullable List<Part> decoded() {
        List<Part> parts = new ArrayList<>();
        try (MultipartDecoder decoder = MultipartDecoder.create(setup.boundary(), options.multipart())) {
            decoder.feed(source.slice(0, source.size()));
            Octets content = new Octets(64);
            long charge = 0;
            for (boolean finished = false; ; ) {
                switch (decoder.next()) {
                    case PART_BEGIN -> {
                        content = new Octets(64);
                        charge = charge(decoder);
                    }
                    case DATA -> {
                        byte[] octets = new byte[decoder.data().readableBytes()];
                        decoder.data().getBytes(decoder.data().readerIndex(), octets);
                        content.add(octets);
                    }
                    case PART_END ->
                        parts.add(new Part(
                                decoder.partIndex(),
                                Objects.requireNonNull(decoder.name()),
                                decoder.filename(),
                                charge,
                                content.toArray()));
                    case NEED_INPUT -> {
                        require(!finished, "needs input after the end");
                        finished = true;
                        decoder.finish();
                    }
                    case END -> {
                        return parts;
                    }
                }
            }
        } catch (MultipartException e) {
            return null;
        }
    }

    private static long charge(MultipartDecoder decoder) {
        String filename = Objects.requireNonNullElse(decoder.filename(), "");
        int names = Objects.requireNonNull(decoder.name()).length() + filename.length();
        return 512
                + decoder.rawHeaders().readableBytes()
                + 16L * decoder.headers().count()
                + (long) Character.BYTES * names;
    }

    /** {@return whether the form is to be finished} */
    private boolean feed(FormAssembler assembler) throws IOException {
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

    private void form(FormAssembler assembler, @Nullable List<Part> expected) throws IOException {
        try (MultipartForm form = assembler.finish()) {
            require(expected != null || setup.preset() == Preset.COMPATIBLE || end == 7, "the decoder refuses this");
            if (setup.preset() != Preset.COMPATIBLE && expected != null) {
                compare(form, expected);
            }
            if (!form.parts().isEmpty() && (sinkOctets & 2) != 0) {
                move(form.parts().get(0));
            }
            if (form.parts().size() > 1 && (sinkOctets & 4) != 0) {
                form.parts().get(1).detach().close();
            }
        }
    }

    private void compare(MultipartForm form, List<Part> expected) throws IOException {
        List<Part> kept = expected.stream().filter(part -> isKept(part.index())).toList();
        require(form.parts().size() == kept.size(), "parts: " + form.parts());
        long charged = expected.stream()
                .filter(part -> isKept(part.index()) || isRefused(part.index()))
                .mapToLong(Part::charge)
                .sum();
        charged += form.parts().stream()
                .filter(FormPart::isInMemory)
                .mapToLong(FormPart::size)
                .sum();
        require(budget.used() == charged, budget.used() + " octets are charged, not " + charged);
        for (int i = 0; i < kept.size(); i++) {
            FormPart part = form.parts().get(i);
            Part wanted = kept.get(i);
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
        Path moved = around.targets.resolve("moved");
        try {
            part.moveTo(moved);
        } catch (IOException e) {
            around.disk.noFaults();
            requireContent(part, before);
            return;
        }
        around.disk.noFaults();
        require(Arrays.equals(before, Files.readAllBytes(moved)), "other content was moved");
    }

    // ---- afterwards

    private void requireWholeTargets(@Nullable List<Part> expected) throws IOException {
        for (Path target : list(around.targets)) {
            String name = target.getFileName().toString();
            require(!name.startsWith("."), "left " + name);
            if (expected != null && name.startsWith("t") && setup.preset() != Preset.COMPATIBLE) {
                byte[] wanted =
                        expected.get(Integer.parseInt(name.substring(1))).content();
                require(Arrays.equals(wanted, Files.readAllBytes(target)), name + " is not whole");
            }
            Files.delete(target);
        }
    }

    private static List<Path> list(Path directory) throws IOException {
        try (Stream<Path> paths = Files.list(directory)) {
            return paths.toList();
        }
    }

    private void requireNothingLeft() throws IOException {
        require(source.held() == 0, source.held() + " slices are held");
        require(ALLOCATOR.metric().usedHeapMemory() == 0, "memory is held");
        require(budget.used() == 0, budget.used() + " octets are charged");
        require(around.disk.open() == 0, around.disk.open() + " files are open");
        if (spool.files() > 0) {
            require(around.disk.hasFailed(), "files are left, and none could not be deleted");
            SpillSink retry = SpillSink.create(spool, 0, MemoryBudget.unlimited());
            retry.write(Unpooled.wrappedBuffer(new byte[1]));
            retry.complete();
            retry.discard();
        }
        require(spool.files() == 0, spool.files() + " files are left");
        require(spool.bytes() == 0, spool.bytes() + " octets are left");
        require(list(spool.path()).isEmpty(), "the spool is not empty");
    }
}

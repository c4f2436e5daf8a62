package dev.sluice.fuzz;

import dev.sluice.MultipartOptions;
import dev.sluice.PartHead;
import dev.sluice.Preset;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.PartDecision;
import dev.sluice.form.PartSink;
import dev.sluice.form.SpoolDirectory;
import io.netty.buffer.ByteBufAllocator;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * The faults around a form, and the application's decisions about its parts, chosen by six bytes of the fuzzer.
 * <pre>
 * byte 0   the failing call of the disk, byte 1 its free space: {@link Disk#faults}
 * byte 2   bits 0-3 the spill threshold, bits 4-5 the memory of the form, bits 6-7 the budget
 * byte 3-4 the decisions: three bits for each of five parts, repeated for the next five
 * byte 5   the bytes accepted by a broken sink, and other choices of the application
 * </pre>
 */
final class FaultPlan {
    static final int HEAD = 6;

    /** Byte 5 of an application that has no bug and rejects nothing. */
    static final byte SOUND_APPLICATION = 64;

    private static final int LARGEST_FIELD = 24;
    private static final int DECIDED = 5;
    private static final int MEMORY = 1;
    private static final int FILE = 2;
    private static final int SINK = 3;
    private static final int DROP = 4;
    private static final int LOOK = 5;
    private static final int END = 6;

    private final Disk disk;
    private final SpoolDirectory spool;
    private final int fault;
    private final int space;
    private final int sizes;
    private final int decisions;
    private final int application;

    FaultPlan(Input in, Disk disk, SpoolDirectory spool) {
        this.disk = disk;
        this.spool = spool;
        this.fault = in.next();
        this.space = in.next();
        this.sizes = in.next();
        this.decisions = in.next() << 8 | in.next();
        this.application = in.next();
    }

    /** Enables the faults of the disk. */
    void begin() {
        disk.faults(fault, space);
    }

    /** {@return byte 5} */
    int application() {
        return application;
    }

    boolean hasSmallBudget() {
        return sizes >> 6 == 3;
    }

    /** {@return the budget of the process, including {@code extra} bytes that are not for parts} */
    MemoryBudget budget(int extra) {
        return MemoryBudget.of((hasSmallBudget() ? 9 << 10 : 1 << 20) + extra, 0, 0);
    }

    boolean hasSmallMemory() {
        return (sizes >> 4 & 3) == 3;
    }

    /** {@return the options of the form, completed from {@code builder}} */
    FormOptions.Builder options(FormOptions.Builder builder) {
        return builder.spillThreshold((sizes & 15) * 4L)
                .maxInMemoryBytes(hasSmallMemory() ? 1400 : 1 << 20)
                .decider(this::decide);
    }

    /** {@return the same options for a form with enough memory and with sinks that work} */
    FormOptions calmOptions(Setup setup, ByteBufAllocator allocator) {
        return FormOptions.inMemory(MemoryBudget.unlimited(), common(setup, allocator))
                .maxInMemoryBytes(1 << 24)
                .decider(this::decideCalmly)
                .build();
    }

    /** {@return the options common to all forms} */
    static MultipartOptions common(Setup setup, ByteBufAllocator allocator) {
        return setup.options(allocator).toBuilder().maxFieldBytes(LARGEST_FIELD).build();
    }

    private int kindOf(int part) {
        return decisions >> 3 * (part % DECIDED) & 7;
    }

    private PartDecision decide(PartHead part) {
        return switch (kindOf(part.index())) {
            case MEMORY -> PartDecision.storeInMemory();
            case FILE -> PartDecision.to(PartSink.toFile(spool, disk.targets().resolve(target(part.index()))));
            case SINK -> PartDecision.to(new BrokenSink(application));
            case DROP -> (application & 1) == 0 ? PartDecision.skip() : PartDecision.skip(415, "part not accepted");
            case LOOK ->
                PartDecision.peek(1 + application % 16, bytes -> {
                    if (application == 255) {
                        throw new BrokenApplication();
                    }
                    return PartDecision.store();
                });
            case END -> {
                if (application < 16) {
                    throw new BrokenApplication();
                }
                yield application < 32 ? PartDecision.reject(403, "form not accepted") : PartDecision.store();
            }
            default -> PartDecision.store();
        };
    }

    private PartDecision decideCalmly(PartHead part) {
        int kind = kindOf(part.index());
        return kind == FILE || kind == SINK ? PartDecision.to(PartSink.discard()) : decide(part);
    }

    /** {@return whether the form keeps the part} */
    boolean isKept(int part) {
        int kind = kindOf(part);
        return kind != FILE && kind != SINK && kind != DROP;
    }

    /** {@return whether the part is skipped and listed} */
    boolean isRefused(int part) {
        return kindOf(part) == DROP && (application & 1) != 0;
    }

    /** {@return whether the application may throw} */
    boolean hasBug() {
        return application == 255 || application < 16;
    }

    /** {@return whether a sink may fail although the disk has no fault} */
    boolean hasFailingSink(Preset preset) {
        boolean fails = false;
        for (int part = 0; part < DECIDED; part++) {
            // Nested parts have the index of the outer part, and therefore the same target.
            fails |= kindOf(part) == SINK || kindOf(part) == FILE && preset == Preset.COMPATIBLE;
        }
        return fails;
    }

    private static String target(int part) {
        return "t" + part;
    }

    /**
     * {@return the name of an incomplete or unexpected target file, or an empty string}
     *
     * @param there the result of {@link Disk#takeTargets()}
     * @param parts the parts found by the decoder
     */
    String brokenTarget(Map<String, byte[]> there, List<DecodedBody.Part> parts, Preset preset) {
        for (String name : there.keySet()) {
            if (name.startsWith(".")) {
                return name;
            }
            boolean whole = !name.startsWith("t") || preset == Preset.COMPATIBLE;
            for (DecodedBody.Part part : parts) {
                whole |= name.equals(target(part.index())) && Arrays.equals(part.content(), there.get(name));
            }
            if (!whole) {
                return name;
            }
        }
        return "";
    }

    @Override
    public String toString() {
        return "fault " + fault + ", space " + space + ", sizes " + sizes + ", decisions " + decisions
                + ", application " + application + ", quota " + spool.maxSpoolBytes();
    }
}

package dev.sluice.form;

import dev.sluice.Deviation;
import dev.sluice.Limits;
import dev.sluice.MultipartOptions;
import dev.sluice.Preset;
import java.time.Duration;
import java.util.Objects;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * How forms are taken. Immutable, and thread-safe if what was put into it is: make one for the process and share it.
 */
public final class FormOptions {
    private final MultipartOptions multipart;
    private final @Nullable SpoolDirectory spool;
    private final MemoryBudget memory;
    private final long spillThreshold;
    private final long maxInMemoryBytes;
    private final long maxDrainBytes;
    private final @Nullable Boolean expandNested;
    private final PartDecider decider;
    private final @Nullable ProgressListener progress;
    private final long progressNanos;
    private final @Nullable FormMetrics metrics;
    private final LongSupplier clock;

    private FormOptions(Builder builder) {
        this.multipart = builder.multipart.limits(builder.limits.build()).build();
        this.spool = builder.spool;
        this.memory = builder.memory;
        this.spillThreshold = builder.spillThreshold;
        this.maxInMemoryBytes = builder.maxInMemoryBytes;
        this.maxDrainBytes = builder.maxDrainBytes;
        this.expandNested = builder.expandNested;
        this.decider = builder.decider;
        this.progress = builder.progress;
        this.progressNanos = builder.progressNanos;
        this.metrics = builder.metrics;
        this.clock = builder.clock;
    }

    /**
     * {@return a builder of options that spill to {@code spool} and charge {@code memory}}
     *
     * @param spool shared by all forms of the process; not closed by them
     * @param memory shared by all forms of the process
     */
    public static Builder builder(SpoolDirectory spool, MemoryBudget memory) {
        return new Builder(Objects.requireNonNull(spool, "spool"), memory);
    }

    /**
     * {@return a builder of options without files: what does not fit into {@link Builder#maxInMemoryBytes} is refused}
     *
     * @param memory shared by all forms of the process
     */
    public static Builder inMemory(MemoryBudget memory) {
        return new Builder(null, memory);
    }

    /** {@return preset, limits, charsets and allocator} */
    public MultipartOptions multipart() {
        return multipart;
    }

    /** {@return where files go, or null where there are none} */
    public @Nullable SpoolDirectory spool() {
        return spool;
    }

    /** {@return the budget of the process} */
    public MemoryBudget memory() {
        return memory;
    }

    /** {@return the largest size of a part that stays in memory, in bytes} */
    public long spillThreshold() {
        return spillThreshold;
    }

    /**
     * {@return the most that one form may hold in memory, in bytes, with names, headers, 512 bytes for each part and 16 for
     * each header field}
     */
    public long maxInMemoryBytes() {
        return maxInMemoryBytes;
    }

    /** {@return the most that is worth reading of a body that was refused, in bytes} */
    public long maxDrainBytes() {
        return maxDrainBytes;
    }

    /** {@return whether the parts of a nested {@code multipart/mixed} become parts of the form} */
    public boolean expandsNested() {
        return expandNested != null ? expandNested : decodesTransferEncodings();
    }

    /** {@return whether base64 and quoted-printable are undone: where the preset takes them without a word} */
    public boolean decodesTransferEncodings() {
        Preset preset = multipart.preset();
        return preset.accepts(Deviation.TRANSFER_ENCODING) && !preset.reports(Deviation.TRANSFER_ENCODING);
    }

    PartDecider decider() {
        return decider;
    }

    ProgressMeter progressMeter() {
        return new ProgressMeter(progress, progressNanos, clock);
    }

    @Nullable
    FormMetrics metrics() {
        return metrics;
    }

    long now() {
        return clock.getAsLong();
    }

    /** Collects options; not thread-safe. */
    public static final class Builder {
        private final @Nullable SpoolDirectory spool;
        private final MemoryBudget memory;
        private MultipartOptions.Builder multipart = MultipartOptions.builder();
        private Limits.Builder limits = Limits.builder().maxBodyBytes(64L << 20).maxFiles(100);
        private long spillThreshold = 64 << 10;
        private long maxInMemoryBytes = 1 << 20;
        private long maxDrainBytes = 1 << 20;
        private @Nullable Boolean expandNested;
        private PartDecider decider = part -> PartDecision.spill();
        private @Nullable ProgressListener progress;
        private long progressNanos;
        private @Nullable FormMetrics metrics;
        private LongSupplier clock = System::nanoTime;

        private Builder(@Nullable SpoolDirectory spool, MemoryBudget memory) {
            this.spool = spool;
            this.memory = Objects.requireNonNull(memory, "memory");
        }

        /**
         * Changes preset, charsets or allocator; limits have {@link #limits} to themselves.
         *
         * @return this builder
         */
        public Builder multipart(UnaryOperator<MultipartOptions.Builder> change) {
            this.multipart = change.apply(multipart);
            return this;
        }

        /**
         * Changes limits, starting from {@link Limits#defaults()} with 64 MiB for the body and 100 files. A part may be
         * as large as the body unless {@link Limits.Builder#maxPartBytes} says otherwise.
         *
         * @return this builder
         */
        public Builder limits(UnaryOperator<Limits.Builder> change) {
            this.limits = change.apply(limits);
            return this;
        }

        /**
         * Sets the largest size of a part that stays in memory, in bytes, 0 or more; 64 KiB by default.
         *
         * @return this builder
         */
        public Builder spillThreshold(long value) {
            this.spillThreshold = check("spillThreshold", value);
            return this;
        }

        /**
         * Sets the most that one form may hold in memory, in bytes, 0 or more; 1 MiB by default. Names, header
         * sections, 512 bytes for each part and 16 for each header field count too. A part that does not fit goes to a file, where there is a
         * spool; what cannot go there is refused with {@code IN_MEMORY_TOO_LARGE} (413).
         *
         * @return this builder
         */
        public Builder maxInMemoryBytes(long value) {
            this.maxInMemoryBytes = check("maxInMemoryBytes", value);
            return this;
        }

        /**
         * Sets the most that is worth reading of a body that was refused, in bytes; 1 MiB by default.
         *
         * @return this builder
         */
        public Builder maxDrainBytes(long value) {
            this.maxDrainBytes = check("maxDrainBytes", value);
            return this;
        }

        /**
         * Sets whether the parts of a nested {@code multipart/mixed} become parts of the form under the outer name, one
         * level deep (RFC 2388 section 4.2, withdrawn by RFC 7578). By default they do where the preset also undoes
         * transfer encodings silently, as {@link Preset#COMPATIBLE} does.
         *
         * @return this builder
         */
        public Builder expandNested(boolean value) {
            this.expandNested = value;
            return this;
        }

        /**
         * Sets who decides where a part goes; {@link PartDecision#spill()} for all by default.
         *
         * @return this builder
         */
        public Builder decider(PartDecider value) {
            this.decider = Objects.requireNonNull(value, "decider");
            return this;
        }

        /**
         * Sets who is told of progress. Being told of one form in options shared by many is rarely wanted: see {@link
         * FormOptions#toBuilder()}.
         *
         * @param interval the shortest time between two calls, 0 for every chunk
         * @return this builder
         */
        public Builder progress(ProgressListener listener, Duration interval) {
            this.progress = Objects.requireNonNull(listener, "listener");
            this.progressNanos = check("interval", interval.toNanos());
            return this;
        }

        /**
         * Sets who is told what became of each form.
         *
         * @return this builder
         */
        public Builder metrics(FormMetrics value) {
            this.metrics = Objects.requireNonNull(value, "metrics");
            return this;
        }

        Builder clock(LongSupplier nanos) {
            this.clock = nanos;
            return this;
        }

        private static long check(String name, long value) {
            if (value < 0) {
                throw new IllegalArgumentException(name + " is " + value + ", must be 0 or more");
            }
            return value;
        }

        /** {@return the options collected so far} */
        public FormOptions build() {
            return new FormOptions(this);
        }
    }

    /** {@return a builder that starts from these options} */
    public Builder toBuilder() {
        Builder builder = new Builder(spool, memory);
        builder.multipart = multipart.toBuilder();
        builder.limits = multipart.limits().toBuilder();
        builder.spillThreshold = spillThreshold;
        builder.maxInMemoryBytes = maxInMemoryBytes;
        builder.maxDrainBytes = maxDrainBytes;
        builder.expandNested = expandNested;
        builder.decider = decider;
        builder.progress = progress;
        builder.progressNanos = progressNanos;
        builder.metrics = metrics;
        builder.clock = clock;
        return builder;
    }
}

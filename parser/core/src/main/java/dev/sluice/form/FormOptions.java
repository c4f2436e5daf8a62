package dev.sluice.form;

import dev.sluice.BodySettings;
import dev.sluice.Boundary;
import dev.sluice.MultipartOptions;
import dev.sluice.Setting;
import java.time.Duration;
import java.util.Objects;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How forms are taken. Immutable, and thread-safe if what was put into it is: make one for the process and share it.
 */
public final class FormOptions {
    /** The most that stands around a boundary: two line ends, two dashes, and transport padding. */
    private static final int AROUND_BOUNDARY = 6 + 256;

    private static final PartDecider STORE_ALL = part -> PartDecision.store();

    private final MultipartOptions multipart;
    private final @Nullable SpoolDirectory spool;
    private final MemoryBudget memory;
    final PartDecider decider;
    final FormAdmission admission;
    final @Nullable ProgressListener progress;
    final long progressNanos;
    final @Nullable FormMetrics metrics;
    private final LongSupplier clock;

    private FormOptions(Builder builder, MultipartOptions multipart) {
        this.multipart = multipart;
        this.spool = builder.spool;
        this.memory = builder.memory;
        this.decider = builder.decider;
        this.admission = builder.admission;
        this.progress = builder.progress;
        this.progressNanos = builder.progressNanos;
        this.metrics = builder.metrics;
        this.clock = builder.clock;
        if (spool != null) {
            spool.fit(multipart.maxBodyBytes());
        }
    }

    /** {@return a builder of options that spill to {@code spool} and charge {@code memory}: both of the process, not closed} */
    public static Builder builder(SpoolDirectory spool, MemoryBudget memory) {
        return new Builder(Objects.requireNonNull(spool, "spool"), memory, null);
    }

    /** {@return as {@link #builder(SpoolDirectory, MemoryBudget)}, but from {@code multipart}, with its limits} */
    public static Builder builder(SpoolDirectory spool, MemoryBudget memory, MultipartOptions multipart) {
        return new Builder(Objects.requireNonNull(spool, "spool"), memory, multipart);
    }

    /** {@return a builder of options without files: what does not fit into {@link Builder#maxInMemoryBytes} is refused} */
    public static Builder inMemory(MemoryBudget memory) {
        return new Builder(null, memory, null);
    }

    /** {@return as {@link #inMemory(MemoryBudget)}, but from {@code multipart}, with its limits} */
    public static Builder inMemory(MemoryBudget memory, MultipartOptions multipart) {
        return new Builder(null, memory, multipart);
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

    /** {@return the largest size of a file that stays in memory, in bytes; see {@link Builder#spillThreshold}} */
    public long spillThreshold() {
        return multipart.number(Setting.SPILL_THRESHOLD);
    }

    /**
     * {@return the most that one form may hold in memory, in bytes: contents, and for each part 512 bytes, its header section, and
     * 2 bytes for each character of its name and file name}
     */
    public long maxInMemoryBytes() {
        return multipart.number(Setting.MAX_IN_MEMORY_BYTES);
    }

    /** {@return how many files one form may keep its parts in; those of sinks do not count} */
    public long maxFilesOnDisk() {
        return multipart.number(Setting.MAX_FILES_ON_DISK);
    }

    /** {@return how much of a refused body is still read and dropped, at most, in bytes} */
    public long maxDrainBytes() {
        return multipart.number(Setting.MAX_DRAIN_BYTES);
    }

    /** {@return whether the parts of a nested {@code multipart/mixed} become parts of the form} */
    public boolean expandNested() {
        return multipart.isOn(Setting.EXPAND_NESTED);
    }

    /** {@return how fast a client has to send, in bytes per second; 0 for no minimum} */
    public long minBytesPerSecond() {
        return multipart.number(Setting.MIN_BYTES_PER_SECOND);
    }

    /** {@return how long a client may send nothing at first} */
    public Duration minRateGrace() {
        return Duration.ofNanos(multipart.number(Setting.MIN_RATE_GRACE));
    }

    /** {@return the pace of a client that has sent nothing yet, or null where there is no minimum: for adapters} */
    public @Nullable ClientPace newPace() {
        return minBytesPerSecond() == 0 ? null : ClientPace.of(minBytesPerSecond(), minRateGrace());
    }

    /** {@return how long a sink may be not ready} */
    public Duration maxSinkWait() {
        return Duration.ofNanos(maxSinkWaitNanos());
    }

    long maxSinkWaitNanos() {
        return multipart.number(Setting.MAX_SINK_WAIT);
    }

    long now() {
        return clock.getAsLong();
    }

    /**
     * {@return how many bytes a body of {@code length} bytes is certain to write to the spool; 0 if that is not certain}. With a
     * decider, all of it may go to sinks. A transfer encoding or a nested body may have any size and little content. Otherwise
     * memory holds at most {@link #maxInMemoryBytes()} of contents and headers, with an overhead for each part that bounds the
     * number of delimiters.
     */
    long leastOnDisk(long length, Boundary boundary) {
        long rest = length - maxInMemoryBytes();
        if (rest <= 0 || decider != STORE_ALL || expandNested() || multipart.decodeTransferEncodings()) {
            return 0;
        }
        long parts = Math.min(multipart.maxParts(), maxInMemoryBytes() / FormAssembler.PART_OVERHEAD);
        long delimiters = (parts + 1) * (boundary.value().length() + AROUND_BOUNDARY);
        return Math.max(rest - delimiters - multipart.maxPreambleBytes() - multipart.maxEpilogueBytes(), 0);
    }

    /** Collects options, those of a body too; 64 MiB for the body and 100 files by default. Not thread-safe. */
    public static final class Builder extends BodySettings<Builder> {
        private final @Nullable SpoolDirectory spool;
        private final MemoryBudget memory;
        private PartDecider decider = STORE_ALL;
        private FormAdmission admission = () -> Readiness.READY;
        private @Nullable ProgressListener progress;
        private long progressNanos;
        private @Nullable FormMetrics metrics;
        private LongSupplier clock = System::nanoTime;

        private Builder(@Nullable SpoolDirectory spool, MemoryBudget memory, @Nullable MultipartOptions from) {
            super(Setting.Scope.FORM, from);
            this.spool = spool;
            this.memory = Objects.requireNonNull(memory, "memory");
        }

        /**
         * {@return this builder; a part of more than {@code value} bytes, 0 or more, goes to a file of the spool; 64 KiB by
         * default. A smaller value has no effect on parts without a file name: a form of 100 fields should not create 100
         * files}
         */
        public Builder spillThreshold(long value) {
            return put(Setting.SPILL_THRESHOLD, value);
        }

        /**
         * {@return this builder; one form holds at most {@code value} bytes in memory, 0 or more; 1 MiB by default. Each part
         * also counts with 512 bytes, its header section, and 2 bytes for each character of its name and file name. A part that
         * does not fit goes to a file; what cannot go there is refused with {@code IN_MEMORY_TOO_LARGE} (413)}
         */
        public Builder maxInMemoryBytes(long value) {
            return put(Setting.MAX_IN_MEMORY_BYTES, value);
        }

        /**
         * {@return this builder; one form keeps its parts in at most {@code value} files, 0 or more; 128 by default. Beyond, it is
         * refused with {@code TOO_MANY_FILES_ON_DISK} (413). Files of sinks do not count}
         */
        public Builder maxFilesOnDisk(long value) {
            return put(Setting.MAX_FILES_ON_DISK, value);
        }

        /** {@return this builder, with {@link #maxFilesOnDisk} off} */
        public Builder unlimitedFilesOnDisk() {
            return off(Setting.MAX_FILES_ON_DISK);
        }

        /**
         * {@return this builder; up to {@code value} bytes of a refused body, 0 or more, are read and dropped, so that the client
         * reads the answer and the connection can be used again; 1 MiB by default}
         */
        public Builder maxDrainBytes(long value) {
            return put(Setting.MAX_DRAIN_BYTES, value);
        }

        /**
         * {@return this builder; whether the parts of a nested {@code multipart/mixed} become parts of the form under the outer
         * name, one level deep (RFC 2388 section 4.2, withdrawn by RFC 7578); by default if {@link dev.sluice.Preset#decodes()}}
         */
        public Builder expandNested(boolean value) {
            return put(Setting.EXPAND_NESTED, value ? 1 : 0);
        }

        /**
         * {@return this builder; a client has to send {@code value} bytes per second, 1 or more; 240 by default. Only the time
         * in which the server waits for the client counts. Adapters enforce it. Where a thread blocks in a read, the rate is
         * checked when bytes arrive; a client that sends nothing at all is left to the container's read timeout}
         */
        public Builder minBytesPerSecond(long value) {
            return put(Setting.MIN_BYTES_PER_SECOND, value);
        }

        /** {@return this builder; clients may send as slowly as the container lets them} */
        public Builder noMinimumRate() {
            return off(Setting.MIN_BYTES_PER_SECOND);
        }

        /** {@return this builder; a client may send nothing at first for {@code value}, more than 0; 5 seconds by default} */
        public Builder minRateGrace(Duration value) {
            return put(Setting.MIN_RATE_GRACE, value);
        }

        /** {@return this builder; a form fails if a sink is not ready for {@code value}, more than 0; 1 minute by default} */
        public Builder maxSinkWait(Duration value) {
            return put(Setting.MAX_SINK_WAIT, value);
        }

        /** {@return this builder; {@code value} decides where a part goes, {@link PartDecision#store()} for all by default} */
        public Builder decider(PartDecider value) {
            this.decider = Objects.requireNonNull(value, "decider");
            return this;
        }

        /** {@return this builder; {@code value} decides whether a form may begin, and when; at once by default} */
        public Builder admission(FormAdmission value) {
            this.admission = Objects.requireNonNull(value, "admission");
            return this;
        }

        /**
         * Sets a progress listener; by default there is none. Usually you want one per form, not in options that all forms
         * share: see {@link FormOptions#toBuilder()}.
         *
         * @param interval the shortest time between two calls, 0 for every chunk
         * @return this builder
         */
        public Builder progress(ProgressListener listener, Duration interval) {
            this.progress = Objects.requireNonNull(listener, "listener");
            if (interval.isNegative()) {
                throw new IllegalArgumentException("interval is " + interval + ", must be 0 or more");
            }
            this.progressNanos = interval.toNanos();
            return this;
        }

        /** {@return this builder; {@code value} is told what became of each form; by default nobody is} */
        public Builder metrics(FormMetrics value) {
            this.metrics = Objects.requireNonNull(value, "metrics");
            return this;
        }

        Builder clock(LongSupplier nanos) {
            this.clock = nanos;
            return this;
        }

        /** {@return the options collected so far} */
        public FormOptions build() {
            return new FormOptions(this, collected());
        }
    }

    /** {@return a builder that starts from these options} */
    public Builder toBuilder() {
        Builder builder = new Builder(spool, memory, multipart);
        builder.decider = decider;
        builder.admission = admission;
        builder.progress = progress;
        builder.progressNanos = progressNanos;
        builder.metrics = metrics;
        builder.clock = clock;
        return builder;
    }
}

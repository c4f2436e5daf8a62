package dev.sluice.form;

import dev.sluice.BodySettings;
import dev.sluice.Boundary;
import dev.sluice.MultipartOptions;
import dev.sluice.Setting;
import dev.sluice.form.assembly.FormAssembler;
import dev.sluice.form.assembly.FormContext;
import java.time.Duration;
import java.util.Objects;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The options for receiving forms: limits, storage, callbacks. Immutable, and thread-safe if its callbacks are. Create one
 * instance per process and share it.
 */
public final class FormOptions {
    /** The maximum number of bytes around a boundary: two line ends, two dashes, and transport padding. */
    private static final int AROUND_BOUNDARY = 6 + 256;

    private static final PartDecider STORE_ALL = part -> PartDecision.store();

    private final MultipartOptions multipart;
    private final @Nullable SpoolDirectory spool;
    private final MemoryBudget memory;
    private final PartDecider decider;
    final FormAdmission admission;
    private final @Nullable ProgressListener progress;
    private final long progressNanos;
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
            spool.spool.fit(multipart.maxBodyBytes());
        }
    }

    /**
     * {@return a builder of options that store large parts in {@code spool} and charge {@code memory}} Both are shared by all
     * forms of the process and never closed by a form.
     */
    public static Builder builder(SpoolDirectory spool, MemoryBudget memory) {
        return new Builder(Objects.requireNonNull(spool, "spool"), memory, null);
    }

    /** {@return a builder like {@link #builder(SpoolDirectory, MemoryBudget)} that starts from the limits and the preset of {@code multipart}} */
    public static Builder builder(SpoolDirectory spool, MemoryBudget memory, MultipartOptions multipart) {
        return new Builder(Objects.requireNonNull(spool, "spool"), memory, multipart);
    }

    /** {@return a builder of options without files} A form that does not fit into {@link Builder#maxInMemoryBytes} is rejected. */
    public static Builder inMemory(MemoryBudget memory) {
        return new Builder(null, memory, null);
    }

    /** {@return a builder like {@link #inMemory(MemoryBudget)} that starts from the limits and the preset of {@code multipart}} */
    public static Builder inMemory(MemoryBudget memory, MultipartOptions multipart) {
        return new Builder(null, memory, multipart);
    }

    /** {@return the options of the decoder: preset, limits, charsets and allocator} */
    public MultipartOptions multipart() {
        return multipart;
    }

    /** {@return the directory for large parts, or null if all parts stay in memory} */
    public @Nullable SpoolDirectory spool() {
        return spool;
    }

    /** {@return the memory budget that all forms of the process share} */
    public MemoryBudget memory() {
        return memory;
    }

    /** {@return the largest size of a file that stays in memory, in bytes; see {@link Builder#spillThreshold}} */
    public long spillThreshold() {
        return multipart.number(Setting.SPILL_THRESHOLD);
    }

    /**
     * {@return the maximum memory of one form, in bytes} It holds the contents and, for each part, 512 bytes, its header section,
     * and 2 bytes for each character of its name and file name.
     */
    public long maxInMemoryBytes() {
        return multipart.number(Setting.MAX_IN_MEMORY_BYTES);
    }

    /** {@return the maximum number of temporary files of one form; files of sinks do not count} */
    public long maxFilesOnDisk() {
        return multipart.number(Setting.MAX_FILES_ON_DISK);
    }

    /** {@return the maximum number of bytes of a rejected body that are still read and discarded} */
    public long maxDrainBytes() {
        return multipart.number(Setting.MAX_DRAIN_BYTES);
    }

    /** {@return whether the parts of a nested {@code multipart/mixed} become parts of the form} */
    public boolean expandNested() {
        return multipart.isOn(Setting.EXPAND_NESTED);
    }

    /** {@return the minimum rate of a client, in bytes per second; 0 for no minimum} */
    public long minBytesPerSecond() {
        return multipart.number(Setting.MIN_BYTES_PER_SECOND);
    }

    /** {@return the time before the minimum rate applies} */
    public Duration minRateGrace() {
        return Duration.ofNanos(multipart.number(Setting.MIN_RATE_GRACE));
    }

    /** {@return the pace of a client that has sent nothing yet, or null if there is no minimum rate; for adapters} */
    public @Nullable ClientPace newPace() {
        return minBytesPerSecond() == 0 ? null : ClientPace.of(minBytesPerSecond(), minRateGrace());
    }

    /** {@return how long a sink may be not ready} */
    public Duration maxSinkWait() {
        return Duration.ofNanos(multipart.number(Setting.MAX_SINK_WAIT));
    }

    FormContext context() {
        return new FormContext(
                this,
                part -> decider.decide(part).decision,
                spool == null ? null : spool.spool,
                memory.uncharged,
                progress,
                progressNanos,
                metrics,
                clock);
    }

    /**
     * {@return the number of bytes that a body of {@code length} bytes certainly writes to the spool; 0 if that is unknown} With a
     * decider, the whole body may go to sinks. A transfer encoding or a nested body may have any size and little content. Otherwise,
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

    /** A builder of options, including the options of the decoder. By default a body has at most 64 MiB and 100 files. Not thread-safe. */
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
         * Sets the number of bytes up to which a part stays in memory. A larger part moves to a file of the spool. A value below
         * the default applies to files only, because a form of 100 fields should not create 100 files.
         *
         * @param value in bytes, 0 or more; 64 KiB by default
         * @return this builder
         */
        public Builder spillThreshold(long value) {
            return put(Setting.SPILL_THRESHOLD, value);
        }

        /**
         * Sets the maximum memory of one form. In addition to its content, each part counts with 512 bytes, its header section,
         * and 2 bytes for each character of its name and file name. A part that does not fit moves to a file. If that is not
         * possible, the form is rejected with {@code IN_MEMORY_TOO_LARGE} (413).
         *
         * @param value in bytes, 0 or more; 1 MiB by default
         * @return this builder
         */
        public Builder maxInMemoryBytes(long value) {
            return put(Setting.MAX_IN_MEMORY_BYTES, value);
        }

        /**
         * Sets the maximum number of temporary files of one form. A form that needs more is rejected with {@code
         * TOO_MANY_FILES_ON_DISK} (413). Files of sinks do not count.
         *
         * @param value 0 or more; 128 by default
         * @return this builder
         */
        public Builder maxFilesOnDisk(long value) {
            return put(Setting.MAX_FILES_ON_DISK, value);
        }

        /** {@return this builder, without a maximum number of temporary files} */
        public Builder unlimitedFilesOnDisk() {
            return off(Setting.MAX_FILES_ON_DISK);
        }

        /**
         * Sets the maximum number of bytes of a rejected body that are still read and discarded, so that the client reads the
         * response and the connection can be used again.
         *
         * @param value in bytes, 0 or more; 1 MiB by default
         * @return this builder
         */
        public Builder maxDrainBytes(long value) {
            return put(Setting.MAX_DRAIN_BYTES, value);
        }

        /**
         * Sets whether the parts of a nested {@code multipart/mixed} body become parts of the form, with the name of the outer
         * part. Only one level is expanded. Old clients send several files of one field in this way (RFC 2388 section 4.2,
         * withdrawn by RFC 7578).
         *
         * @param value true by default if {@link dev.sluice.Preset#decodes()} is true
         * @return this builder
         */
        public Builder expandNested(boolean value) {
            return put(Setting.EXPAND_NESTED, value ? 1 : 0);
        }

        /**
         * Sets the minimum rate of a client. Only the time in which the server waits for the client counts. Adapters enforce the
         * rate. If a thread blocks in a read, the rate is checked when bytes arrive; the container's read timeout applies to a
         * client that sends nothing at all.
         *
         * @param value in bytes per second, 1 or more; 240 by default
         * @return this builder
         */
        public Builder minBytesPerSecond(long value) {
            return put(Setting.MIN_BYTES_PER_SECOND, value);
        }

        /** {@return this builder, without a minimum rate} Only the timeouts of the container apply. */
        public Builder noMinimumRate() {
            return off(Setting.MIN_BYTES_PER_SECOND);
        }

        /**
         * Sets the time before the minimum rate applies. Until then a client may send nothing.
         *
         * @param value more than 0; 5 seconds by default
         * @return this builder
         */
        public Builder minRateGrace(Duration value) {
            return put(Setting.MIN_RATE_GRACE, value);
        }

        /**
         * Sets how long a form waits for a sink that is not ready. Then it fails with {@code SINK_STALLED} (503).
         *
         * @param value more than 0; 1 minute by default
         * @return this builder
         */
        public Builder maxSinkWait(Duration value) {
            return put(Setting.MAX_SINK_WAIT, value);
        }

        /**
         * Sets the callback that chooses the destination of each part. By default, the form {@linkplain PartDecision#store()
         * stores} all parts.
         *
         * @return this builder
         */
        public Builder decider(PartDecider value) {
            this.decider = Objects.requireNonNull(value, "decider");
            return this;
        }

        /**
         * Sets the callback that chooses whether and when a form may begin. By default, it begins immediately.
         *
         * @return this builder
         */
        public Builder admission(FormAdmission value) {
            this.admission = Objects.requireNonNull(value, "admission");
            return this;
        }

        /**
         * Sets a progress listener. By default there is none. A listener usually belongs to one form, not to options that all
         * forms share: see {@link FormOptions#toBuilder()}.
         *
         * @param interval the minimum time between two calls; 0 for a call after each chunk
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

        /**
         * Sets the callback that receives a summary of each form. By default there is none.
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

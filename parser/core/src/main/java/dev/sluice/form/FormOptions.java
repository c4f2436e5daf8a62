package dev.sluice.form;

import dev.sluice.MultipartOptions;
import dev.sluice.PartHead;
import dev.sluice.Preset;
import dev.sluice.Setting;
import dev.sluice.form.assembly.FormContext;
import dev.sluice.form.assembly.PartDestination;
import io.netty.buffer.ByteBufAllocator;
import java.nio.charset.Charset;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The options for receiving forms: limits, storage, callbacks. Immutable, and thread-safe if its callbacks are. Create one
 * instance per process and share it.
 */
public final class FormOptions {
    private static final long SHORTEST_CHECK_NANOS = 1_000_000;
    private static final long LONGEST_CHECK_NANOS = 1_000_000_000;

    private static final MultipartOptions DECODER_DEFAULTS = MultipartOptions.builder()
            .maxBodyBytes(Setting.MAX_BODY_BYTES.formDefault())
            .maxFiles(Setting.MAX_FILES.formDefault())
            .build();

    private final MultipartOptions multipart;
    private final @Nullable SpoolDirectory spool;
    private final MemoryBudget memory;
    private final long spillThreshold;
    private final long maxInMemoryBytes;
    private final long maxFilesOnDisk;
    private final long maxDrainBytes;
    private final @Nullable Boolean expandNested; // null if the preset decides
    private final long minBytesPerSecond;
    private final Duration minRateGrace;
    private final Duration maxSinkWait;
    final FormContext context;

    private FormOptions(Builder builder) {
        this.multipart = builder.multipart.build();
        this.spool = builder.spool;
        this.memory = builder.memory;
        this.spillThreshold = builder.spillThreshold;
        this.maxInMemoryBytes = builder.maxInMemoryBytes;
        this.maxFilesOnDisk = builder.maxFilesOnDisk;
        this.maxDrainBytes = builder.maxDrainBytes;
        this.expandNested = builder.expandNested;
        this.minBytesPerSecond = builder.minBytesPerSecond;
        this.minRateGrace = builder.minRateGrace;
        this.maxSinkWait = builder.maxSinkWait;
        if (spool != null) {
            spool.spool.fit(multipart.maxBodyBytes());
        }
        this.context = new FormContext(
                this,
                builder.decider,
                builder.admission,
                spool == null ? null : spool.spool,
                memory.waiting,
                memory.segments,
                builder.progress,
                builder.progressNanos,
                builder.metrics,
                builder.clock);
    }

    /**
     * {@return a builder of options that store large parts in {@code spool} and charge the memory of forms to {@code memory}} Both are
     * shared by all forms of the process and never closed by a form.
     */
    public static Builder builder(SpoolDirectory spool, MemoryBudget memory) {
        return builder(spool, memory, DECODER_DEFAULTS);
    }

    /**
     * {@return a builder like {@link #builder(SpoolDirectory, MemoryBudget)} that starts from the limits and the preset of
     * {@code multipart}}
     */
    public static Builder builder(SpoolDirectory spool, MemoryBudget memory, MultipartOptions multipart) {
        return new Builder(Objects.requireNonNull(spool, "spool"), memory, multipart);
    }

    /**
     * {@return a builder of options that keep all stored parts in memory and never write temporary files} A form that does not fit into
     * {@link Builder#maxInMemoryBytes} is rejected.
     */
    public static Builder inMemory(MemoryBudget memory) {
        return inMemory(memory, DECODER_DEFAULTS);
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

    /** {@return the largest size of a part that stays in memory, in bytes; see {@link Builder#spillThreshold}} */
    public long spillThreshold() {
        return spillThreshold;
    }

    /** {@return the maximum memory of one form, in bytes; see {@link Builder#maxInMemoryBytes}} */
    public long maxInMemoryBytes() {
        return maxInMemoryBytes;
    }

    /** {@return the maximum number of temporary files of one form; files of sinks do not count} */
    public long maxFilesOnDisk() {
        return maxFilesOnDisk;
    }

    /** {@return the maximum number of bytes of a rejected body that are still read and discarded} */
    public long maxDrainBytes() {
        return maxDrainBytes;
    }

    /** {@return whether the parts of a nested {@code multipart/mixed} become parts of the form} */
    public boolean expandNested() {
        return expandNested == null ? multipart.preset().decodes() : expandNested;
    }

    /** {@return the minimum rate of a client, in bytes per second; 0 for no minimum} */
    public long minBytesPerSecond() {
        return minBytesPerSecond;
    }

    /** {@return the time before the minimum rate applies} */
    public Duration minRateGrace() {
        return minRateGrace;
    }

    /** {@return a new tracker of the rate at which one client sends, or null if there is no minimum rate; for adapters} */
    public @Nullable ClientPace newPace() {
        return minBytesPerSecond == 0 ? null : ClientPace.of(minBytesPerSecond, minRateGrace);
    }

    /** {@return how long a form waits for a sink that is not ready} */
    public Duration maxSinkWait() {
        return maxSinkWait;
    }

    /**
     * {@return the interval in nanoseconds between two calls of {@link FormIntake#checkPace}, for adapters} It is a quarter of the shorter of
     * {@link #minRateGrace()} and {@link #maxSinkWait()}, but at least 1 ms and at most 1 s.
     */
    public long paceCheckNanos() {
        long shortest = Math.min(minRateGrace.toNanos(), maxSinkWait.toNanos());
        return Math.min(Math.max(shortest / 4, SHORTEST_CHECK_NANOS), LONGEST_CHECK_NANOS);
    }

    /** {@return a builder that starts from these options} */
    public Builder toBuilder() {
        Builder builder = new Builder(spool, memory, multipart);
        builder.spillThreshold = spillThreshold;
        builder.maxInMemoryBytes = maxInMemoryBytes;
        builder.maxFilesOnDisk = maxFilesOnDisk;
        builder.maxDrainBytes = maxDrainBytes;
        builder.expandNested = expandNested;
        builder.minBytesPerSecond = minBytesPerSecond;
        builder.minRateGrace = minRateGrace;
        builder.maxSinkWait = maxSinkWait;
        builder.decider = context.decider();
        builder.admission = context.admission();
        builder.progress = context.progress();
        builder.progressNanos = context.progressNanos();
        builder.metrics = context.metrics();
        builder.clock = context.clock();
        return builder;
    }

    /**
     * A builder of options, including the options of the decoder: {@link MultipartOptions.Builder} documents the setters of the same name.
     * Each setter returns this builder. By default a body may have at most 64 MiB and 100 files. Not thread-safe.
     */
    public static final class Builder {
        private final MultipartOptions.Builder multipart;
        private final @Nullable SpoolDirectory spool;
        private final MemoryBudget memory;
        private long spillThreshold = Setting.SPILL_THRESHOLD.formDefault();
        private long maxInMemoryBytes = Setting.MAX_IN_MEMORY_BYTES.formDefault();
        private long maxFilesOnDisk = Setting.MAX_FILES_ON_DISK.formDefault();
        private long maxDrainBytes = Setting.MAX_DRAIN_BYTES.formDefault();
        private @Nullable Boolean expandNested;
        private long minBytesPerSecond = Setting.MIN_BYTES_PER_SECOND.formDefault();
        private Duration minRateGrace = Duration.ofNanos(Setting.MIN_RATE_GRACE.formDefault());
        private Duration maxSinkWait = Duration.ofNanos(Setting.MAX_SINK_WAIT.formDefault());
        private PartDestination.@Nullable Decider<PartHead> decider;
        private FormAdmission admission = () -> Readiness.READY;
        private @Nullable ProgressListener progress;
        private long progressNanos;
        private @Nullable FormMetrics metrics;
        private LongSupplier clock = System::nanoTime;

        private Builder(@Nullable SpoolDirectory spool, MemoryBudget memory, MultipartOptions multipart) {
            this.spool = spool;
            this.memory = Objects.requireNonNull(memory, "memory");
            this.multipart = multipart.toBuilder();
        }

        /**
         * Sets the largest size of a part that stays in memory, in bytes; 64 KiB by default. A larger part moves to a file of the spool,
         * and a smaller one if memory runs short. A value below the default applies to files only, because a form of 100 fields should not
         * create 100 files.
         */
        public Builder spillThreshold(long value) {
            this.spillThreshold = Setting.SPILL_THRESHOLD.check(value);
            return this;
        }

        /**
         * Sets the maximum memory of one form in bytes, 1 MiB by default. In addition to its content in memory, each part uses up 512
         * bytes, the size of its header section, and 2 bytes for each character of its name and file name. A part that goes to a sink or is
         * skipped without a status uses them up until it ends. If a part does not fit, parts move to files. If no part may move or moving
         * is not enough, the form is rejected with {@code IN_MEMORY_TOO_LARGE} (413). Limits on files can reject the form as well.
         */
        public Builder maxInMemoryBytes(long value) {
            this.maxInMemoryBytes = Setting.MAX_IN_MEMORY_BYTES.check(value);
            return this;
        }

        /**
         * Sets the maximum number of temporary files of one form, 128 by default. A form that needs more is rejected with {@code
         * TOO_MANY_FILES_ON_DISK} (413). Files of sinks do not count.
         */
        public Builder maxFilesOnDisk(long value) {
            this.maxFilesOnDisk = Setting.MAX_FILES_ON_DISK.check(value);
            return this;
        }

        /** Removes the limit on the number of temporary files. */
        public Builder unlimitedFilesOnDisk() {
            this.maxFilesOnDisk = Long.MAX_VALUE;
            return this;
        }

        /**
         * Sets how many bytes of a rejected body are still read and discarded, 1 MiB by default. This lets the client finish sending and
         * read the response, and the connection can be reused. To find the end of the body, one more byte is requested, except from a body
         * of unknown length if the value is 0.
         */
        public Builder maxDrainBytes(long value) {
            this.maxDrainBytes = Setting.MAX_DRAIN_BYTES.check(value);
            return this;
        }

        /**
         * Sets whether a nested {@code multipart/mixed} body is expanded: its parts become parts of the form, with the name of the outer
         * part. The default is {@link Preset#decodes()}. Only one level is expanded. Old clients send several files of one field in this
         * way (RFC 2388 section 4.2, withdrawn by RFC 7578).
         */
        public Builder expandNested(boolean value) {
            this.expandNested = value;
            return this;
        }

        /**
         * Sets the minimum rate of a client in bytes per second; 240 by default. 0 removes it, like {@link #noMinimumRate()}. Only the time
         * in which the server waits for the client counts. Adapters enforce the rate. If a thread blocks in a read, the rate is checked only
         * when bytes arrive. The read timeout of the container then ends the request of a client that sends nothing.
         */
        public Builder minBytesPerSecond(long value) {
            this.minBytesPerSecond = Setting.MIN_BYTES_PER_SECOND.check(value);
            return this;
        }

        /** Removes the minimum rate. Only the timeouts of the container then end the request of a client that sends nothing. */
        public Builder noMinimumRate() {
            this.minBytesPerSecond = 0;
            return this;
        }

        /**
         * Sets the time before the minimum rate applies, 5 seconds by default. During this time a client need not send anything.
         */
        public Builder minRateGrace(Duration value) {
            this.minRateGrace = Setting.MIN_RATE_GRACE.check(value);
            return this;
        }

        /** Sets how long a form waits for a sink that is not ready, 1 minute by default. Then it fails with {@code SINK_STALLED} (503). */
        public Builder maxSinkWait(Duration value) {
            this.maxSinkWait = Setting.MAX_SINK_WAIT.check(value);
            return this;
        }

        /** Sets the callback that chooses the destination of each part; by default {@link PartDecision#store()}. */
        public Builder decider(PartDecider value) {
            Objects.requireNonNull(value, "decider");
            this.decider = part -> value.decide(part).decision;
            return this;
        }

        /** Sets the callback that decides whether and when a form may begin; by default immediately. */
        public Builder admission(FormAdmission value) {
            this.admission = Objects.requireNonNull(value, "admission");
            return this;
        }

        /**
         * Sets a progress listener, which is called at the end of each part and of the form. In between, it is called at most once per
         * {@code interval}, or after each chunk if the interval is 0. A listener usually belongs to one form, not to options that all forms
         * share: see {@link FormOptions#toBuilder()}.
         */
        public Builder progress(ProgressListener listener, Duration interval) {
            this.progress = Objects.requireNonNull(listener, "listener");
            if (interval.isNegative()) {
                throw new IllegalArgumentException("interval is " + interval + ", must be 0 or more");
            }
            this.progressNanos = TimeUnit.NANOSECONDS.convert(interval);
            return this;
        }

        /** Sets the listener for the start, the received bytes and the summary of each form; none by default. */
        public Builder metrics(FormMetrics value) {
            this.metrics = Objects.requireNonNull(value, "metrics");
            return this;
        }

        Builder clock(LongSupplier nanos) {
            this.clock = nanos;
            return this;
        }

        /** Sets a value of the form or of the decoder given as text, like {@link MultipartOptions.Builder#set}. */
        public Builder set(Setting setting, String text) {
            switch (setting) {
                case SPILL_THRESHOLD -> spillThreshold = (long) setting.parse(text);
                case MAX_IN_MEMORY_BYTES -> maxInMemoryBytes = (long) setting.parse(text);
                case MAX_FILES_ON_DISK -> maxFilesOnDisk = (long) setting.parse(text);
                case MAX_DRAIN_BYTES -> maxDrainBytes = (long) setting.parse(text);
                case EXPAND_NESTED -> expandNested = (boolean) setting.parse(text);
                case MIN_BYTES_PER_SECOND -> minBytesPerSecond = (long) setting.parse(text);
                case MIN_RATE_GRACE -> minRateGrace = (Duration) setting.parse(text);
                case MAX_SINK_WAIT -> maxSinkWait = (Duration) setting.parse(text);
                default -> multipart.set(setting, text);
            }
            return this;
        }

        /** Like {@link MultipartOptions.Builder#preset}. */
        public Builder preset(Preset value) {
            multipart.preset(value);
            return this;
        }

        /** Like {@link MultipartOptions.Builder#headerCharset}. */
        public Builder headerCharset(Charset charset) {
            multipart.headerCharset(charset);
            return this;
        }

        /** Like {@link MultipartOptions.Builder#decodePercentEscapes}. */
        public Builder decodePercentEscapes(boolean decode) {
            multipart.decodePercentEscapes(decode);
            return this;
        }

        /** Like {@link MultipartOptions.Builder#decodeTransferEncodings}. */
        public Builder decodeTransferEncodings(boolean decode) {
            multipart.decodeTransferEncodings(decode);
            return this;
        }

        /** Like {@link MultipartOptions.Builder#joinContinuations}. */
        public Builder joinContinuations(boolean join) {
            multipart.joinContinuations(join);
            return this;
        }

        /** Like {@link MultipartOptions.Builder#decodeEncodedWords}. */
        public Builder decodeEncodedWords(boolean decode) {
            multipart.decodeEncodedWords(decode);
            return this;
        }

        /** Like {@link MultipartOptions.Builder#preferExtendedFilename}. */
        public Builder preferExtendedFilename(boolean prefer) {
            multipart.preferExtendedFilename(prefer);
            return this;
        }

        /** Like {@link MultipartOptions.Builder#allocator}. */
        public Builder allocator(ByteBufAllocator value) {
            multipart.allocator(value);
            return this;
        }

        /** Like {@link MultipartOptions.Builder#maxBodyBytes}. */
        public Builder maxBodyBytes(long value) {
            multipart.maxBodyBytes(value);
            return this;
        }

        /** Like {@link MultipartOptions.Builder#unlimitedBodyBytes}. This also removes the quota of the spool, unless it was set. */
        public Builder unlimitedBodyBytes() {
            multipart.unlimitedBodyBytes();
            return this;
        }

        /** Like {@link MultipartOptions.Builder#maxPartBytes}. */
        public Builder maxPartBytes(long value) {
            multipart.maxPartBytes(value);
            return this;
        }

        /** Like {@link MultipartOptions.Builder#unlimitedPartBytes}. */
        public Builder unlimitedPartBytes() {
            multipart.unlimitedPartBytes();
            return this;
        }

        /** Like {@link MultipartOptions.Builder#maxFieldBytes}. */
        public Builder maxFieldBytes(long value) {
            multipart.maxFieldBytes(value);
            return this;
        }

        /** Like {@link MultipartOptions.Builder#unlimitedFieldBytes}. */
        public Builder unlimitedFieldBytes() {
            multipart.unlimitedFieldBytes();
            return this;
        }

        /** Like {@link MultipartOptions.Builder#maxParts}. */
        public Builder maxParts(long value) {
            multipart.maxParts(value);
            return this;
        }

        /** Like {@link MultipartOptions.Builder#unlimitedParts}. */
        public Builder unlimitedParts() {
            multipart.unlimitedParts();
            return this;
        }

        /** Like {@link MultipartOptions.Builder#maxFiles}. */
        public Builder maxFiles(long value) {
            multipart.maxFiles(value);
            return this;
        }

        /** Like {@link MultipartOptions.Builder#unlimitedFiles}. */
        public Builder unlimitedFiles() {
            multipart.unlimitedFiles();
            return this;
        }

        /** Like {@link MultipartOptions.Builder#maxHeadersPerPart}. */
        public Builder maxHeadersPerPart(int value) {
            multipart.maxHeadersPerPart(value);
            return this;
        }

        /** Like {@link MultipartOptions.Builder#maxHeaderBytesPerPart}. */
        public Builder maxHeaderBytesPerPart(int value) {
            multipart.maxHeaderBytesPerPart(value);
            return this;
        }

        /** Like {@link MultipartOptions.Builder#maxHeaderBytes}. */
        public Builder maxHeaderBytes(long value) {
            multipart.maxHeaderBytes(value);
            return this;
        }

        /** Like {@link MultipartOptions.Builder#unlimitedHeaderBytes}. */
        public Builder unlimitedHeaderBytes() {
            multipart.unlimitedHeaderBytes();
            return this;
        }

        /** Like {@link MultipartOptions.Builder#maxPreambleBytes}. */
        public Builder maxPreambleBytes(int value) {
            multipart.maxPreambleBytes(value);
            return this;
        }

        /** Like {@link MultipartOptions.Builder#maxEpilogueBytes}. */
        public Builder maxEpilogueBytes(int value) {
            multipart.maxEpilogueBytes(value);
            return this;
        }

        /**
         * {@return options with the values set so far} If the {@linkplain SpoolDirectory.Builder#maxSpoolBytes quota of the spool} was not
         * set and is less than 16 times {@code maxBodyBytes}, this call raises it to that value, for all forms and for as long as the spool
         * is open.
         */
        public FormOptions build() {
            return new FormOptions(this);
        }
    }
}

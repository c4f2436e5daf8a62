package dev.sluice.s3;

import dev.sluice.form.MemoryBudget;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Sinks into an object store. Create one for the process, and an {@link S3Form} for each form. Thread-safe.
 *
 * {@snippet file="BucketUploads.java" region="objects"}
 *
 * <p>The stored forms are found with {@link #find} and deleted with {@link #delete}. Call {@link #sweep} from time to time, on any node:
 * it removes what killed processes and failed forms have left. {@link CommitProtocol} describes the protocol.
 */
public class S3Sinks {
    private static final int USUAL_SEGMENT = 8 << 20;
    private static final int LARGEST_SEGMENT = 64 << 20;
    private static final int PIECES_PER_STEP = 1250;

    /** The number of active forms. */
    private int active;

    /** Completes when nothing is active. */
    private CompletableFuture<Void> idle = Futures.DONE;

    private @Nullable CompletableFuture<Void> probed;

    final ObjectStore store;
    final CommitProtocol protocol;
    final SegmentMemory memory;
    final int segmentBytes;
    final int segmentsInFlight;
    final int maxPieces;
    final Duration maxAge;
    final InstantSource clock;
    final LongSupplier nanoClock;
    final boolean onlyNew;
    final boolean clientContentType;
    final int sniffedBytes;
    final @Nullable Function<byte[], @Nullable String> sniffer;

    /** Not private, and the class is not final, so that containers can create proxies. */
    S3Sinks(Builder builder) {
        this.store = builder.store;
        this.protocol = new CommitProtocol(store, builder.prefix);
        this.clock = builder.clock;
        this.nanoClock = builder.nanoClock;
        this.memory = new SegmentMemory(builder.budget, builder.maxWait, store, nanoClock);
        this.segmentBytes = builder.segmentBytes;
        this.segmentsInFlight = builder.segmentsInFlight;
        this.maxPieces = builder.maxPieces;
        this.maxAge = builder.maxAge;
        this.onlyNew = builder.onlyNew;
        this.clientContentType = builder.clientContentType;
        this.sniffedBytes = builder.sniffedBytes;
        this.sniffer = builder.sniffer;
    }

    /** {@return a builder of sinks into {@code store}, whose segments are charged to {@code budget}} */
    public static Builder builder(ObjectStore store, MemoryBudget budget) {
        return new Builder(store, budget);
    }

    /** {@return a new form} */
    public S3Form newForm() {
        return new S3Form(this);
    }

    /**
     * Checks that the store is reachable, and that it obeys {@code If-None-Match} and {@code If-Match}, on which everything depends. The
     * first form does the same. Call this at the start of the application, to fail early.
     *
     * @return a future that completes if forms can be stored, and otherwise fails with the reason
     */
    public CompletableFuture<Void> probe() {
        return probed().copy();
    }

    /** {@return the last probe, or a new one if it has failed} */
    CompletableFuture<Void> probed() {
        CompletableFuture<Void> made = new CompletableFuture<>();
        synchronized (this) {
            if (probed != null && !probed.isCompletedExceptionally()) {
                return probed;
            }
            probed = made;
        }
        Futures.forward(Futures.tryCall(protocol::probe), made); // without the lock
        return made;
    }

    /**
     * {@return the record of a form, if the form exists}
     *
     * @param id the identifier of the form, from {@link S3Form#id()}
     */
    public CompletableFuture<Optional<FormRecord>> find(String id) {
        return protocol.read(id).thenApply(record -> Optional.ofNullable(record).filter(FormRecord::isCommitted));
    }

    /**
     * Deletes a form and its files, except objects under keys of the application.
     *
     * @return whether the form existed
     */
    public CompletableFuture<Boolean> delete(String id) {
        return protocol.delete(id);
    }

    /**
     * The result of a sweep: how many forms it ended, how many uploads it aborted, and how many files it deleted. No committed form lists any
     * of these files. A {@link #probe} whose process was killed counts as a form.
     */
    public record Swept(int forms, int uploads, int objects) {}

    /**
     * Ends the forms of this prefix that have received nothing for {@link Builder#maxAge}, and deletes what they have stored. Committed
     * forms and objects of other applications are not touched. Any number of processes may sweep at the same time.
     *
     * @return a future of the counts. A form that cannot be swept, for example because its record is damaged, does not stop the sweep, but
     *     makes the future fail at the end. If there are several, the failures after the first one are its suppressed exceptions
     */
    public CompletableFuture<Swept> sweep() {
        return new Sweep(protocol, maxAge, CommitProtocol.TOMBSTONE_AGE, clock).run();
    }

    /** {@return a future that completes when no form is active, nothing is being cleaned up, and no memory is in use} */
    public synchronized CompletableFuture<Void> whenIdle() {
        return idle.copy();
    }

    synchronized void begun() {
        if (active++ == 0) {
            idle = new CompletableFuture<>();
        }
    }

    void ended() {
        CompletableFuture<Void> ended;
        synchronized (this) {
            ended = --active == 0 ? idle : Futures.DONE;
        }
        ended.complete(null); // without the lock
    }

    /** {@return the size of the piece with this number} If the first pieces have 8 MiB, 10,000 pieces have room for 351 GiB. */
    long segmentBytes(int piece) {
        long grown = (long) segmentBytes * (1 + piece / PIECES_PER_STEP);
        return Math.min(grown, Math.max(segmentBytes, LARGEST_SEGMENT));
    }

    /** The settings of the sinks. Each method returns this builder. Not thread-safe. */
    public static final class Builder {
        private final ObjectStore store;
        private final MemoryBudget budget;
        private String prefix = "";
        private int segmentBytes = USUAL_SEGMENT;
        private int segmentsInFlight = 2;
        private int maxPieces = 10_000;
        private Duration maxWait = Duration.ofSeconds(30);
        private Duration maxAge = Duration.ofDays(1);
        private InstantSource clock = InstantSource.system();
        private LongSupplier nanoClock = System::nanoTime;
        private boolean onlyNew;
        private boolean clientContentType;
        private int sniffedBytes;
        private @Nullable Function<byte[], @Nullable String> sniffer;

        private Builder(ObjectStore store, MemoryBudget budget) {
            this.store = Objects.requireNonNull(store, "store");
            this.budget = Objects.requireNonNull(budget, "budget");
        }

        /** Sets the start of all keys, such as {@code uploads/}; empty by default. */
        public Builder prefix(String value) {
            this.prefix = Objects.requireNonNull(value, "prefix");
            return this;
        }

        /**
         * Sets the size of a piece, 5 MiB to 1 GiB; 8 MiB by default. Pieces become larger after every 1,250 pieces, up to 64 MiB, and are
         * smaller if memory runs short.
         */
        public Builder segmentBytes(int value) {
            this.segmentBytes = within(value, SegmentMemory.MIN_SEGMENT, 1 << 30, "segmentBytes");
            return this;
        }

        /** Sets how many requests with content a form makes at a time, 1 to 100; 2 by default. */
        public Builder segmentsInFlight(int value) {
            this.segmentsInFlight = within(value, 1, 100, "segmentsInFlight");
            return this;
        }

        /**
         * Sets how long a form waits for memory before it fails with 503, more than 0; 30 seconds by default. A form that has already stored
         * something waits longer, as long as any such form gets memory within that time.
         */
        public Builder maxWait(Duration value) {
            this.maxWait = positive(value, "maxWait");
            return this;
        }

        /**
         * Sets how long a form may receive nothing before a sweep ends it, more than 0; 1 day by default. A short time may fail forms, but
         * never damages one.
         */
        public Builder maxAge(Duration value) {
            this.maxAge = positive(value, "maxAge");
            return this;
        }

        /** Makes a form fail if an object already exists under a key that the application chose; by default it is replaced. */
        public Builder onlyNew() {
            this.onlyNew = true;
            return this;
        }

        /**
         * Takes the media type of an object from its first bytes; by default it is {@code application/octet-stream}.
         *
         * @param bytes how many of the first bytes are passed to {@code value}, 1 to 8192
         * @param value returns null if the type is unknown
         */
        public Builder sniff(int bytes, Function<byte[], @Nullable String> value) {
            this.sniffedBytes = within(bytes, 1, 8192, "bytes");
            this.sniffer = Objects.requireNonNull(value, "sniffer");
            return this;
        }

        /** Takes the media type of an object from the client, if the client sends one of at most 256 printable ASCII characters. */
        public Builder clientContentType() {
            this.clientContentType = true;
            return this;
        }

        /** Sets the number of pieces after which a file is too large, for tests. */
        Builder maxPieces(int value) {
            this.maxPieces = value;
            return this;
        }

        /** Sets the clock of this process, for tests. */
        Builder clock(InstantSource value) {
            this.clock = value;
            return this;
        }

        /** Sets the replacement for {@link System#nanoTime}, for tests. */
        Builder nanoClock(LongSupplier value) {
            this.nanoClock = value;
            return this;
        }

        private static Duration positive(Duration value, String name) {
            if (value.isZero() || value.isNegative()) {
                throw new IllegalArgumentException(name + " is " + value + ", must be more than 0");
            }
            return value;
        }

        private static int within(int value, int least, int most, String name) {
            if (value < least || value > most) {
                throw new IllegalArgumentException(name + " is " + value + ", must be " + least + " to " + most);
            }
            return value;
        }

        /**
         * {@return the sinks}
         *
         * @throws IllegalArgumentException if the budget is too small for one segment
         */
        public S3Sinks build() {
            return new S3Sinks(this);
        }
    }
}

package dev.sluice.s3;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.MemoryBudget;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Sinks into an object store. Make one for the process, and an {@link S3Form} for each form. Thread-safe.
 *
 * {@snippet file="Guide.java" region="objects"}
 */
public final class S3Sinks {
    /** The least size of a piece that is not the last. */
    static final int LEAST_SEGMENT = 5 << 20;

    /** Three quarters of it are two segments and the sixteenth that forms are left. */
    private static final int LEAST_BUDGET = 16_205_265;

    private static final int USUAL_SEGMENT = 8 << 20;
    private static final int LARGEST_SEGMENT = 64 << 20;
    private static final int PIECES_PER_STEP = 1250;
    private static final int POLL_MILLIS = 50;

    private record Waiting(S3Form form, CompletableFuture<Void> granted, long since) {}

    private final ReentrantLock lock = new ReentrantLock();
    private final ArrayDeque<Waiting> queue = new ArrayDeque<>();
    private final AtomicInteger active = new AtomicInteger();
    private volatile CompletableFuture<Void> idle = CompletableFuture.completedFuture(null);
    private boolean polled;
    private volatile boolean someWait;

    /** What to call so that segments beside the two of their forms are sent as they are: their clients may be silent. */
    final Set<Runnable> extras = ConcurrentHashMap.newKeySet();

    final ObjectStore store;
    final Told told;
    final MemoryBudget budget;
    final String prefix;
    final int segmentBytes;
    final int segmentsInFlight;
    final long keptBytes;
    final int mostPieces;
    final Duration maxAge;
    final boolean clientContentType;
    final int sniffedBytes;
    final @Nullable Function<byte[], String> sniffer;
    final long maxWaitNanos;

    private S3Sinks(Builder builder) {
        this.store = builder.store;
        this.told = new Told(store.metrics());
        this.budget = builder.budget;
        this.prefix = builder.prefix;
        this.segmentBytes = builder.segmentBytes;
        this.segmentsInFlight = builder.segmentsInFlight;
        this.keptBytes = builder.keptBytes;
        this.mostPieces = builder.mostPieces;
        this.maxAge = builder.maxAge;
        this.clientContentType = builder.clientContentType;
        this.sniffedBytes = builder.sniffedBytes;
        this.sniffer = builder.sniffer;
        this.maxWaitNanos = builder.maxWait.toNanos();
    }

    /** {@return a builder of sinks into {@code store}, whose segments are charged to {@code budget}} */
    public static Builder builder(ObjectStore store, MemoryBudget budget) {
        return new Builder(store, budget);
    }

    /** {@return the sinks of one form} */
    public S3Form newForm() {
        return new S3Form(this);
    }

    /**
     * What a sweep has found.
     *
     * @param uploads those that were ended
     * @param objects the keys of forms that did not become visible as a whole: there is no object of theirs now
     */
    public record Swept(List<ObjectStore.Upload> uploads, List<String> objects) {}

    /**
     * Removes what killed processes have left: uploads of this prefix of which nothing is younger than {@link
     * Builder#maxAge}, and the objects of forms that were becoming visible that long ago. Live forms end or fail within half
     * of that time, so none in use is removed. Any number of processes may sweep at the same time.
     *
     * <p>What cannot be removed does not keep the rest from it.
     *
     * @return what was removed; it fails in the end, with the first failure and the others suppressed, if something could not
     *     be
     */
    public CompletableFuture<Swept> sweep() {
        Instant limit = Instant.now().minus(maxAge);
        List<ObjectStore.Upload> ended = new ArrayList<>(); // one answer after the other, so one thread at a time
        List<String> removed = new ArrayList<>();
        List<Supplier<CompletableFuture<Void>>> steps = List.of(
                () -> store.idleUploads(prefix, limit)
                        .thenCompose(idle ->
                                each(idle, upload -> store.abort(upload).thenRun(() -> ended.add(upload)))),
                () -> Note.sweep(store, prefix, limit, removed));
        return each(steps, Supplier::get)
                .whenComplete((all, failure) -> told.that(metrics -> metrics.swept(ended.size(), removed.size())))
                .thenApply(all -> new Swept(List.copyOf(ended), List.copyOf(removed)));
    }

    /** Takes {@code step} with each, one after the other, whatever becomes of those before. {@return complete in the end} */
    static <T> CompletableFuture<Void> each(List<T> all, Function<T, CompletableFuture<Void>> step) {
        List<Throwable> failures = new ArrayList<>();
        CompletableFuture<Void> done = CompletableFuture.completedFuture(null);
        for (T one : all) {
            done = done.thenCompose(before -> step.apply(one)).exceptionally(failure -> {
                failures.add(Retries.unwrap(failure));
                return null;
            });
        }
        return done.thenCompose(tried -> {
            if (failures.isEmpty()) {
                return CompletableFuture.completedFuture(null);
            }
            Throwable first = failures.get(0);
            failures.stream().filter(other -> other != first).forEach(first::addSuppressed);
            return CompletableFuture.failedFuture(first);
        });
    }

    /** {@return complete when nothing is under way: no form, no upload that is being ended, no memory} */
    public CompletableFuture<Void> whenIdle() {
        begun();
        CompletableFuture<Void> waiting;
        lock.lock();
        try {
            waiting = idle.isDone() ? new CompletableFuture<>() : idle;
            idle = waiting;
        } finally {
            lock.unlock();
        }
        ended();
        return waiting.copy();
    }

    void begun() {
        active.incrementAndGet();
    }

    void ended() {
        if (active.decrementAndGet() == 0) {
            idle.complete(null);
        }
    }

    /** {@return the size of a piece: room for 350 GiB where it begins at 8 MiB} */
    long segmentBytes(int piece) {
        long grown = (long) segmentBytes * (1 + piece / PIECES_PER_STEP);
        return Math.min(grown, Math.max(segmentBytes, LARGEST_SEGMENT));
    }

    /** {@return whether memory is short, so that nobody takes more than there must be} */
    boolean isShort() {
        return someWait;
    }

    /** Completes {@code granted} when the form, whose lock is held, has its segments; first come, first served. */
    void admit(S3Form form, CompletableFuture<Void> granted) {
        lock.lock();
        try {
            if (queue.isEmpty() && form.tryReserve()) {
                granted.complete(null);
            } else {
                long since = System.nanoTime();
                queue.add(new Waiting(form, granted, since));
                granted.whenComplete((done, failure) ->
                        told.that(metrics -> metrics.waited(System.nanoTime() - since, failure == null)));
                someWait = true;
                CompletableFuture.runAsync(() -> extras.forEach(Runnable::run)); // each takes the lock of its form
            }
        } finally {
            lock.unlock();
        }
        serveLater();
    }

    /** Memory may have become free. On another thread: this one may hold the lock of a form. */
    void serveLater() {
        if (someWait) {
            CompletableFuture.runAsync(this::serve);
        }
    }

    private void serve() {
        for (Runnable answer = next(); answer != null; answer = next()) {
            answer.run();
        }
    }

    /** {@return how to answer the first in the queue, or null if it has to wait} */
    private @Nullable Runnable next() {
        lock.lock();
        try {
            Waiting first = queue.peek();
            if (first == null) {
                return null;
            }
            Runnable answer = null;
            if (first.granted.isDone() || first.form.tryReserve()) {
                answer = () -> first.granted.complete(null);
            } else if (System.nanoTime() - first.since > maxWaitNanos) {
                answer = () -> first.granted.completeExceptionally(MultipartException.because(Reason.MEMORY_FULL)
                        .limit(budget.capacity())
                        .build());
            } else if (!polled) { // others use the budget, and do not say when they have done
                polled = true;
                CompletableFuture.delayedExecutor(POLL_MILLIS, TimeUnit.MILLISECONDS)
                        .execute(this::poll);
            }
            if (answer != null) {
                queue.poll();
                someWait = !queue.isEmpty();
            }
            return answer;
        } finally {
            lock.unlock();
        }
    }

    private void poll() {
        lock.lock();
        polled = false;
        lock.unlock();
        serve();
    }

    /** Collects settings. Not thread-safe. */
    public static final class Builder {
        private final ObjectStore store;
        private final MemoryBudget budget;
        private String prefix = "";
        private int segmentBytes = USUAL_SEGMENT;
        private int segmentsInFlight = 2;
        private long keptBytes = 1 << 20;
        private int mostPieces = 9_999; // and one that says that an upload goes on
        private Duration maxWait = Duration.ofSeconds(30);
        private Duration maxAge = Duration.ofDays(1);
        private boolean clientContentType;
        private int sniffedBytes;
        private @Nullable Function<byte[], String> sniffer;

        private Builder(ObjectStore store, MemoryBudget budget) {
            this.store = Objects.requireNonNull(store, "store");
            this.budget = Objects.requireNonNull(budget, "budget");
        }

        /**
         * {@return this builder; keys begin with {@code value}, followed by 32 random characters; nothing by default. Set it if
         * others use the bucket too: without it, {@link S3Sinks#sweep} ends their idle uploads as well}
         */
        public Builder prefix(String value) {
            this.prefix = Objects.requireNonNull(value, "prefix");
            return this;
        }

        /**
         * {@return this builder; a segment has {@code value} bytes at first, 5 MiB to 1 GiB, 8 MiB by default, and as many more
         * after each 1,250, up to 64 MiB. An object has at most 9,999: 351 GiB with the default, 625 with 64 MiB}
         */
        public Builder segmentBytes(int value) {
            this.segmentBytes = within(value, LEAST_SEGMENT, 1 << 30, "segmentBytes");
            return this;
        }

        /**
         * {@return this builder; an upload sends {@code value} segments at a time, 1 to 100, while it fills one more; 2 by
         * default. More than one only while the budget has room}
         */
        public Builder segmentsInFlight(int value) {
            this.segmentsInFlight = within(value, 1, 100, "segmentsInFlight");
            return this;
        }

        /**
         * {@return this builder; a form waits {@code value} for its first two segments, then it is refused with 503; 30 s
         * by default. No longer than {@code maxSinkWait} of the form's options, which {@link S3Form#options} raises}
         */
        public Builder maxWait(Duration value) {
            this.maxWait = Objects.requireNonNull(value, "maxWait");
            return this;
        }

        /**
         * {@return this builder; an upload of which nothing is younger than {@code value} is swept. A form of whose files
         * nothing arrives fails after half of that time, or at the latest after all of it, and so does one whose objects take
         * half of it to become visible. While something arrives, each upload of the form is kept from the sweep, by a request
         * each time that half has passed. 1 day by default. Use one value for all processes that share a prefix; their
         * clocks may not differ by half of it}
         */
        public Builder maxAge(Duration value) {
            this.maxAge = Objects.requireNonNull(value, "maxAge");
            return this;
        }

        /**
         * {@return this builder; the media type of an object is what {@code value} says of the first {@code bytes}, 1 to 8192;
         * by default it is {@code application/octet-stream}}
         */
        public Builder sniff(int bytes, Function<byte[], String> value) {
            this.sniffedBytes = within(bytes, 1, 8192, "bytes");
            this.sniffer = Objects.requireNonNull(value, "sniffer");
            return this;
        }

        /** {@return this builder; the media type of an object is what the client says, where it does; by default what {@link #sniff} says} */
        public Builder clientContentType() {
            this.clientContentType = true;
            return this;
        }

        /** For tests: nobody sends 10,000. */
        Builder mostPieces(int value) {
            this.mostPieces = value;
            return this;
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
         * @throws IllegalArgumentException if the budget is too small for the two segments of a form
         */
        public S3Sinks build() {
            if (!budget.hasRoom(S3Form.least(budget) - budget.used())) {
                throw new IllegalArgumentException("a budget of " + budget.capacity()
                        + " bytes is too small: beside its share for small requests a form needs "
                        + S3Form.least(budget)
                        + ", so MemoryBudget.of(" + LEAST_BUDGET + ") is the least");
            }
            return new S3Sinks(this);
        }
    }
}

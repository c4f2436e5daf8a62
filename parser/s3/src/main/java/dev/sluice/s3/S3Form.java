package dev.sluice.s3;

import dev.sluice.PartHead;
import dev.sluice.form.FormAdmission;
import dev.sluice.form.FormOptions;
import dev.sluice.form.PartDecider;
import dev.sluice.form.PartDecision;
import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import dev.sluice.form.StoreMetrics;
import dev.sluice.task.SerialTask;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One form whose files go to an object store. It exists in the store completely, or not at all: see {@link #id()} and {@link
 * S3Sinks#find}.
 *
 * <p>As a decider, it sends files to the store and keeps fields in memory. As an admission, it commits the form after everything else
 * has succeeded. The form's options need both, as {@link #options} sets them.
 *
 * <p><b>States.</b> All events of a form run one after the other, on the executor of the store.
 *
 * <table>
 * <caption>Transitions</caption>
 * <tr><th>state</th><th>event</th><th>action</th><th>next state</th></tr>
 * <tr><td>{@code OPEN}</td><td>a segment is full</td><td>write the intent, create the upload, send the piece</td><td>{@code OPEN}</td></tr>
 * <tr><td>{@code OPEN}</td><td>a file has arrived</td><td>complete its upload, or store it with one request; keep it if it is small</td>
 * <td>{@code OPEN}</td></tr>
 * <tr><td>{@code OPEN}</td><td>a request fails</td><td>cancel all requests, fail the sinks</td><td>{@code FAILED}</td></tr>
 * <tr><td>{@code OPEN}</td><td>{@link #commit()}</td><td>store the small files</td><td>{@code COMMITTING}</td></tr>
 * <tr><td>{@code COMMITTING}</td><td>all files are stored</td><td>write the record</td><td>{@code COMMITTING}</td></tr>
 * <tr><td>{@code COMMITTING}</td><td>the record is written</td><td>report success</td><td>{@code COMMITTED}</td></tr>
 * <tr><td>{@code COMMITTING}</td><td>it is not, or unknown</td><td>fail the form</td><td>{@code FAILED}</td></tr>
 * <tr><td>{@code COMMITTED}</td><td>{@link #ended()}</td><td>delete the intents</td><td>{@code ENDED}</td></tr>
 * <tr><td>any other</td><td>{@link #ended()}</td><td>cancel all requests; write a tombstone and delete the files if there are
 * intents</td><td>{@code ENDED}</td></tr>
 * </table>
 */
public final class S3Form implements PartDecider, FormAdmission {
    private static final int MOST_OF_NAME = 1024;

    /** The time that a form has for its commit. Its tombstone, if there is one, stays longer. */
    private static final Duration MOST_TIME = CommitProtocol.TOMBSTONE_AGE.minusDays(2);

    /** How often an intent is written again in the time after which a sweep ends the form. */
    private static final int RENEWALS = 4;

    /** The time that the form waits longer than its sinks, so that it fails with their reason. */
    private static final Duration ANSWER = Duration.ofSeconds(10);

    private static final String UNKNOWN_TYPE = "application/octet-stream";

    /**
     * A stored file of a committed form.
     *
     * @param part the headers of the part
     * @param stored the object
     */
    public record StoredPart(PartHead part, ObjectStore.Stored stored) {}

    private enum State {
        OPEN,
        COMMITTING,
        COMMITTED,
        FAILED,
        ENDED
    }

    /** A segment to be sent: a piece of a file, or all of it. */
    private record Job(FileUpload file, int number, Segment body) {}

    final S3Sinks sinks;
    private final String id = CommitProtocol.random();
    private final Queue<Runnable> events = new ConcurrentLinkedQueue<>();
    private final SerialTask running = new SerialTask(this::runEvents);
    private final List<FileUpload> files = new CopyOnWriteArrayList<>();
    private final Instant since = Instant.now();
    private final long sinceNanos = System.nanoTime();

    /** Segments that are sent or wait to be. */
    private final AtomicInteger unsent = new AtomicInteger();

    /** The memory of the small content. */
    private final AtomicLong small = new AtomicLong();

    private volatile boolean admitted;
    private volatile @Nullable Throwable failure;
    private volatile long intentNanos;
    private volatile List<StoredPart> objects = List.of();

    // The state, which only events use.
    private State state = State.OPEN;
    private boolean hasMemory;
    private boolean hasEnded;
    private final Queue<Job> jobs = new ArrayDeque<>();
    private final Set<CompletableFuture<?>> requests = new HashSet<>();
    private @Nullable CompletableFuture<String> firstIntent;
    private int intentNumber;
    private int underWay;
    private int flying;
    private @Nullable S3Sink waiting;
    private boolean isAsking;
    private @Nullable Readiness committing;
    private boolean isWriting;

    S3Form(S3Sinks sinks) {
        this.sinks = sinks;
    }

    /** {@return the identifier of the form in the store, 32 random hexadecimal digits} */
    public String id() {
        return id;
    }

    /**
     * {@return options for this form only: its files go to the store, and it is committed in the end} {@code maxSinkWait} becomes longer
     * than {@link S3Sinks.Builder#maxWait}.
     *
     * @param defaults the options of all forms
     */
    public FormOptions options(FormOptions defaults) {
        return options(defaults.toBuilder()).build();
    }

    /** {@return {@code options}, changed as in {@link #options(FormOptions)}} */
    public FormOptions.Builder options(FormOptions.Builder options) {
        Duration least = sinks.maxWait.plus(ANSWER);
        Duration given = options.build().maxSinkWait();
        return options.admission(this).decider(this).maxSinkWait(given.compareTo(least) < 0 ? least : given);
    }

    /** {@inheritDoc} Ready when there is memory for a small form. */
    @Override
    public Readiness admit() {
        admitted = true;
        sinks.begun();
        Readiness ready = Readiness.pending();
        CompletableFuture<Long> granted = sinks.memory.admit();
        post(() -> {
            cancellable(granted, (bytes, cause) -> {
                hasMemory = cause == null;
                if (cause == null) {
                    ready.ready();
                } else {
                    ready.fail(Retries.unwrap(cause));
                }
            });
        });
        return ready;
    }

    @Override
    public PartDecision decide(PartHead part) {
        if (part.filename() == null) {
            return PartDecision.storeInMemory();
        }
        return sinks.sniffer == null || claimedType(part) != null
                ? PartDecision.to(sink(part))
                : PartDecision.peek(
                        sinks.sniffedBytes, first -> PartDecision.to(sink(part, sinks.sniffer.apply(first))));
    }

    /** {@return a sink for this part, under a random key} */
    public PartSink sink(PartHead part) {
        return sink(part, Objects.requireNonNullElse(claimedType(part), UNKNOWN_TYPE));
    }

    /** {@return the media type that the client claims, if that is wanted and fits into a header} */
    private @Nullable String claimedType(PartHead part) {
        String claimed = sinks.clientContentType ? part.contentType() : null;
        return claimed != null && claimed.matches("[ -~]+") ? claimed : null;
    }

    /**
     * {@return a sink for this part, under a random key}
     *
     * @param contentType the media type of the object
     */
    public PartSink sink(PartHead part, String contentType) {
        int number = files.size() + 1;
        return sink(new FileUpload(
                part,
                new ObjectStore.Target(sinks.protocol.fileKey(id, number), contentType, metadata(part), false),
                number,
                false));
    }

    /**
     * {@return a sink for this part, under a key of the application} Such an object is not part of the all-or-nothing promise: it appears
     * just before the form is committed, and stays if the commit fails. Sluice never deletes it.
     *
     * @param contentType the media type of the object
     * @param key the name of the object, chosen by the application, never by the client. An existing object is replaced, unless
     *     {@link S3Sinks.Builder#onlyNew} is set
     */
    public PartSink sink(PartHead part, String contentType, String key) {
        return sink(new FileUpload(
                part, new ObjectStore.Target(key, contentType, metadata(part), sinks.onlyNew), files.size() + 1, true));
    }

    private PartSink sink(FileUpload file) {
        files.add(file);
        return new S3Sink(this, file);
    }

    /** The form identifies an object under a chosen key. */
    private Map<String, String> metadata(PartHead part) {
        String name = part.filename();
        return name == null ? Map.of("form", id) : Map.of("form", id, "filename", encoded(name));
    }

    /** {@return {@code text} with percent escapes, as in URIs, shortened to fit into a header} */
    private static String encoded(String text) {
        StringBuilder encoded = new StringBuilder();
        for (int at = 0, c; at < text.length(); at += Character.charCount(c)) {
            c = text.codePointAt(at);
            StringBuilder next = new StringBuilder();
            for (byte b : Character.toString(c).getBytes(StandardCharsets.UTF_8)) {
                boolean plain =
                        b >= '0' && b <= '9' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z' || b == '.' || b == '-';
                next.append(plain ? String.valueOf((char) b) : String.format("%%%02X", b));
            }
            if (encoded.length() + next.length() > MOST_OF_NAME) {
                break;
            }
            encoded.append(next);
        }
        return encoded.toString();
    }

    /** {@return the files of the committed form, in order; empty before the commit} */
    public List<StoredPart> objects() {
        return objects;
    }

    /** {@inheritDoc} Ready when the record of the form is in the store. A form without files is not stored. */
    @Override
    public Readiness commit() throws IOException {
        checkFailure();
        Readiness ready = Readiness.pending();
        post(() -> {
            committing = ready;
            if (state == State.FAILED) {
                ready.fail(Objects.requireNonNull(failure));
            } else if (files.stream().noneMatch(file -> file.isPublished)) {
                ready.ready();
            } else {
                state = State.COMMITTING;
            }
        });
        return ready;
    }

    /** {@inheritDoc} Fails the form unless its record is being written. */
    @Override
    public void cancelCommit(Throwable reason) {
        post(() -> {
            if (!isWriting) {
                fail(reason);
            }
        });
    }

    @Override
    public void ended() {
        post(() -> {
            hasEnded = true;
            if (!isWriting) { // else the record decides
                fail(new IOException("the form has ended"));
            }
        });
    }

    // ---- called by the sinks

    void checkFailure() throws IOException {
        if (!admitted) {
            throw new IllegalStateException(
                    "the form is not admitted: use options(...), or set admission(...) as well");
        }
        Throwable cause = failure;
        if (cause instanceof IOException io) {
            throw io;
        } else if (cause != null) {
            throw new IOException(cause.getMessage(), cause);
        }
    }

    /** Writes an intent again if it becomes old, so that no sweep ends the form while it receives data. */
    void keepYoung() {
        long last = intentNanos;
        if (last != 0 && System.nanoTime() - last > sinks.maxAge.toNanos() / RENEWALS) {
            intentNanos = System.nanoTime();
            post(() -> {
                if (isActive()) {
                    request(sinks.protocol.intend(id, intentNumber), (done, cause) -> {});
                }
            });
        }
    }

    Segment newSegment() {
        sinks.begun();
        return new Segment(this::freed);
    }

    private void freed(Segment segment) {
        if (segment.isLeased()) {
            sinks.memory.returnSegment(segment.capacity());
        } else {
            small.addAndGet(-segment.charged());
        }
        sinks.ended();
    }

    /** {@return whether a full segment has room for more bytes now} */
    boolean makeRoom(Segment segment, int bytes, int piece) {
        if (!segment.isLeased()) {
            long more = segment.smallMemory(bytes) - segment.charged();
            if (small.addAndGet(more) <= SegmentMemory.SMALL) {
                segment.extend(bytes);
                return true;
            }
            small.addAndGet(-more);
        }
        long capacity = isBusy() ? 0 : sinks.memory.tryLease(sinks.segmentBytes(piece));
        if (capacity > 0) {
            useLease(segment, capacity);
        }
        return capacity > 0;
    }

    private boolean isBusy() {
        return unsent.get() > sinks.segmentsInFlight;
    }

    void useLease(Segment segment, long capacity) {
        small.addAndGet(-segment.charged());
        segment.lease(capacity);
    }

    /** Counts a segment that is sent soon. */
    void sent() {
        unsent.incrementAndGet();
    }

    // ---- events

    /** Runs {@code event} after all earlier ones. */
    void post(Runnable event) {
        events.add(event);
        if (running.trigger()) {
            try {
                sinks.store.executor().execute(running::run);
            } catch (RejectedExecutionException e) { // the store was closed
                running.run();
            }
        }
    }

    private boolean runEvents() {
        for (Runnable event; (event = events.poll()) != null; ) {
            try {
                event.run();
                advance();
            } catch (Throwable e) {
                fail(e);
            }
        }
        return false;
    }

    private boolean isActive() {
        return state == State.OPEN || state == State.COMMITTING;
    }

    /** Handles the answer to a request as an event. If the request fails, the form does. */
    private <T> void request(CompletableFuture<T> request, BiConsumer<@Nullable T, @Nullable Throwable> answered) {
        underWay++;
        request.whenComplete((answer, cause) -> post(() -> {
            underWay--;
            answered.accept(answer, cause);
            if (cause != null) {
                fail(cause);
            }
        }));
    }

    /** Like {@link #request}, for a request that is cancelled if the form fails. */
    private <T> void cancellable(CompletableFuture<T> request, BiConsumer<@Nullable T, @Nullable Throwable> answered) {
        requests.add(request);
        request(request, (answer, cause) -> {
            requests.remove(request);
            answered.accept(answer, cause);
        });
    }

    void fail(Throwable cause) {
        if (!isActive()) {
            return;
        }
        Throwable reason = Retries.unwrap(cause);
        failure = reason;
        state = State.FAILED;
        List.copyOf(requests).forEach(request -> request.cancel(true));
        jobs.forEach(this::landed);
        jobs.clear();
        for (FileUpload file : files) {
            if (file.content != null) {
                file.content.release();
                file.content = null;
            }
        }
        if (waiting != null) {
            waiting.settle(reason);
            waiting = null;
        }
        if (committing != null) {
            committing.fail(reason);
        }
    }

    /** All of a file has arrived. */
    void arrived(FileUpload file, @Nullable Segment last, int sent, long size, String crc32) {
        file.size = size;
        file.crc32 = crc32;
        boolean isSmall = last == null || !last.isLeased();
        if (sent > 0 || file.isChosen && !isSmall) { // under a chosen key nothing may appear yet
            file.pieceCount = last == null ? sent : sent + 1;
            if (last != null) {
                unsent.incrementAndGet();
                send(file, sent + 1, last);
            }
            return;
        }
        file.pieceCount = 0;
        file.content = last == null ? newSegment() : last;
        if (!isSmall) {
            sendContent(file);
        } else if (!isActive()) {
            file.content.release();
            file.content = null;
        }
    }

    private void sendContent(FileUpload file) {
        Segment content = Objects.requireNonNull(file.content);
        file.content = null;
        unsent.incrementAndGet();
        send(file, 0, content);
    }

    void send(FileUpload file, int number, Segment body) {
        Job job = new Job(file, number, body);
        if (isActive()) {
            jobs.add(job);
        } else {
            landed(job);
        }
    }

    private void landed(Job job) {
        unsent.decrementAndGet();
        job.body.release();
    }

    void await(S3Sink sink) {
        Throwable cause = failure;
        if (cause == null) {
            waiting = sink;
        } else {
            sink.settle(cause);
        }
    }

    /** Does what can be done after an event. */
    private void advance() {
        if (isActive()) {
            for (FileUpload file : files) {
                store(file);
            }
            while (flying < sinks.segmentsInFlight && !jobs.isEmpty()) {
                fly(jobs.remove());
            }
            askForMemory();
            if (state == State.COMMITTING && !isWriting && published().allMatch(file -> file.stored != null)) {
                writeRecord();
            }
        }
        if (hasEnded && !isActive() && state != State.ENDED && underWay == 0) {
            end();
        }
    }

    /** Makes an object of a file, if it is time. */
    private void store(FileUpload file) {
        boolean isTime = !file.isChosen
                || state == State.COMMITTING
                        && published().takeWhile(other -> other != file).allMatch(other -> other.stored != null)
                        && published().allMatch(other -> other.isChosen || other.stored != null);
        if (isTime && file.isUploaded() && !file.isStoring) {
            file.isStoring = true;
            cancellable(
                    sinks.store.complete(
                            file.target,
                            Objects.requireNonNull(file.upload).join().id(),
                            List.copyOf(file.pieces.values()),
                            file.size,
                            file.crc32),
                    (stored, cause) -> file.stored = stored);
        } else if (isTime && state == State.COMMITTING && file.isPublished && file.content != null) {
            sendContent(file);
        }
    }

    private Stream<FileUpload> published() {
        return files.stream().filter(file -> file.isPublished);
    }

    private void fly(Job job) {
        FileUpload file = job.file;
        if (job.number == 0) {
            CompletableFuture<?> before = file.isChosen ? sinks.probed() : anyIntent(file);
            fly(job, before, ready -> sinks.store.put(file.target, job.body), stored -> file.stored = stored);
        } else {
            fly(
                    job,
                    upload(file),
                    upload -> sinks.store.upload(file.target, upload.id(), job.number, job.body),
                    piece -> file.pieces.put(piece.number(), piece));
        }
    }

    private <T, R> void fly(
            Job job, CompletableFuture<T> before, Function<T, CompletableFuture<R>> send, Consumer<R> then) {
        flying++;
        request(before, (ready, problem) -> {
            if (problem != null || !isActive()) {
                flying--;
                landed(job);
                return;
            }
            cancellable(send.apply(ready), (answer, cause) -> {
                flying--;
                landed(job);
                if (answer != null) {
                    then.accept(answer);
                }
            });
        });
    }

    private CompletableFuture<String> anyIntent(FileUpload file) {
        return firstIntent == null ? intent(file) : firstIntent;
    }

    private CompletableFuture<String> intent(FileUpload file) {
        CompletableFuture<String> written = sinks.probed().thenCompose(fine -> sinks.protocol.intend(id, file.number));
        if (firstIntent == null) {
            firstIntent = written;
            intentNumber = file.number;
        }
        intentNanos = System.nanoTime();
        request(written, (key, cause) -> {
            if (key != null) {
                file.intent = key;
            }
        });
        return written;
    }

    private CompletableFuture<ObjectStore.Created> upload(FileUpload file) {
        CompletableFuture<ObjectStore.Created> known = file.upload;
        if (known == null) {
            CompletableFuture<?> ready = file.isChosen ? sinks.probed() : intent(file);
            known = ready.thenCompose(fine -> sinks.store.create(file.target));
            file.upload = known;
        }
        return known;
    }

    private void askForMemory() {
        S3Sink sink = waiting;
        if (sink == null || isAsking || isBusy()) {
            return;
        }
        long wanted = sinks.segmentBytes(sink.next());
        long capacity = sinks.memory.tryLease(wanted);
        if (capacity > 0) {
            waiting = null;
            sink.resume(capacity);
        } else if (unsent.get() == 0) { // else a segment returns first
            isAsking = true;
            cancellable(sinks.memory.lease(wanted, firstIntent != null), (granted, cause) -> {
                isAsking = false;
                S3Sink asking = waiting;
                waiting = null;
                if (granted != null && asking != null) {
                    asking.resume(granted);
                } else if (granted != null) {
                    sinks.memory.returnSegment(granted);
                } else if (asking != null && cause != null) {
                    waiting = asking; // fails with the form
                }
            });
        }
    }

    private void writeRecord() {
        if (Duration.between(since, Instant.now()).compareTo(MOST_TIME) > 0
                || System.nanoTime() - sinceNanos > MOST_TIME.toNanos()) {
            fail(new IOException("the form took longer than " + MOST_TIME.toDays() + " days"));
            return;
        }
        isWriting = true;
        List<StoredPart> stored = published()
                .map(file -> new StoredPart(file.part, Objects.requireNonNull(file.stored)))
                .toList();
        List<FormRecord.File> listed = published()
                .map(file -> new FormRecord.File(
                        Objects.requireNonNullElse(file.part.name(), ""),
                        Objects.requireNonNullElse(file.part.filename(), ""),
                        file.target.contentType(),
                        Objects.requireNonNull(file.stored)))
                .toList();
        request(sinks.protocol.commit(new FormRecord(id, true, CommitProtocol.random(), listed)), (done, cause) -> {
            isWriting = false;
            if (cause == null) {
                state = State.COMMITTED;
                objects = stored;
                Objects.requireNonNull(committing).ready();
            }
        });
    }

    /** Cleans up: intents after a commit, or everything else. */
    private void end() {
        CompletableFuture<?> done = CompletableFuture.completedFuture(null);
        if (state == State.COMMITTED) {
            done = sinks.protocol.forget(files.stream()
                    .filter(file -> !file.mayHaveOthers())
                    .flatMap(file -> Stream.ofNullable(file.intent))
                    .toList());
        } else {
            List<FileUpload> unfinished = files.stream()
                    .filter(file ->
                            file.stored == null && file.upload != null && !file.upload.isCompletedExceptionally())
                    .toList();
            for (FileUpload file : unfinished) {
                sinks.events.report(StoreMetrics::aborted);
                String upload = Objects.requireNonNull(file.upload).join().id();
                done = done.thenCompose(before -> sinks.store.abort(new ObjectStore.Upload(file.target.key(), upload)))
                        .handle((aborted, cause) -> null); // a sweep tries again
            }
            if (files.stream().anyMatch(file -> file.intent != null)) {
                done = done.thenCompose(before -> sinks.protocol.end(id));
            }
        }
        state = State.ENDED;
        if (hasMemory) {
            sinks.memory.end();
        }
        done.whenComplete((ended, cause) -> sinks.ended());
    }
}

package dev.sluice.s3;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.PartHead;
import dev.sluice.form.Readiness;
import dev.sluice.task.IsolatedCall;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The upload of one form: a state machine. {@link CommitProtocol} describes the objects that it writes.
 *
 * <p><b>Threads.</b> Everything that happens to the form is an {@linkplain FormEvents event}. Only events access the state, so no lock is
 * needed. After each event, {@link #advance} begins everything that has become possible.
 *
 * <p><b>Content.</b> A sink fills segments. A full segment becomes a {@link Job}: one piece of a multipart upload. A file that ends before its
 * first piece is sent is stored by one request: at once if its segment is leased, otherwise when the form is committed. So a small form that
 * fails costs no request. A segment is small until it needs a lease of memory. Its sink then waits in a queue. Usually the next event of the
 * form already gives it the memory. {@link SegmentMemory} explains why forms cannot block each other.
 *
 * <p><b>Requests.</b> An intent is written before anything of the form, and before each multipart upload, except for files with a chosen
 * key. If the form fails, requests that send or complete content are cancelled, to free their memory. Requests that write an intent or create
 * an upload continue, because their responses say what to clean up.
 * The clean-up begins when the form has ended and no request is open, so that no later response can add something to delete.
 *
 * <table>
 * <caption>Transitions</caption>
 * <tr><th>state</th><th>event</th><th>action</th><th>next state</th></tr>
 * <tr><td>{@code OPEN}</td><td>a segment is full</td><td>write the intent, create the upload, send the piece</td><td>{@code OPEN}</td></tr>
 * <tr><td>{@code OPEN}</td><td>a file has arrived</td><td>complete its upload, or store it with one request; keep it if it is small</td>
 * <td>{@code OPEN}</td></tr>
 * <tr><td>{@code OPEN}</td><td>the commit is requested</td><td>store the small files</td><td>{@code COMMITTING}</td></tr>
 * <tr><td>{@code OPEN}</td><td>the commit is requested, and no file was published</td><td>report success: there is nothing to commit, and
 * the form is cleaned up like a failed one</td><td>{@code OPEN}</td></tr>
 * <tr><td>{@code OPEN}, {@code COMMITTING}</td><td>a request fails, the commit is cancelled, or the form ends</td><td>cancel the
 * requests for memory and content, fail the sinks and the commit</td><td>{@code FAILED}</td></tr>
 * <tr><td>{@code COMMITTING}</td><td>all files are stored</td><td>write the record</td><td>{@code WRITING}</td></tr>
 * <tr><td>{@code WRITING}</td><td>the record is in the store</td><td>report success</td><td>{@code COMMITTED}</td></tr>
 * <tr><td>{@code WRITING}</td><td>a tombstone is in the store, or the outcome is unknown</td><td>fail the commit</td><td>{@code FAILED}</td></tr>
 * <tr><td>{@code WRITING}</td><td>anything else</td><td>none: the record decides</td><td>{@code WRITING}</td></tr>
 * <tr><td>{@code COMMITTED}</td><td>the form ends</td><td>delete the intents, unless a sweep has something to delete</td><td>{@code ENDED}</td></tr>
 * <tr><td>{@code FAILED}</td><td>the form has ended, and no request is open</td><td>abort the uploads; if there are intents, write a
 * tombstone and delete the files</td><td>{@code ENDED}</td></tr>
 * </table>
 */
final class FormUpload {
    private enum State {
        OPEN,
        COMMITTING,
        WRITING,
        COMMITTED,
        FAILED,
        ENDED
    }

    /** A segment to be sent: a piece of a file, or the whole file if the number is 0. */
    private record Job(S3Sink file, int number, Segment body) {}

    /** The number of times that an intent is renewed within {@code maxAge}, the age at which a sweep ends its form. */
    private static final int RENEWALS = 4;

    final S3Sinks sinks;
    final FormEvents events;
    private final String id;
    private final List<S3Sink> files = new CopyOnWriteArrayList<>();
    private final Instant since;
    private final long sinceNanos;

    /** The memory charged for small segments. */
    private final AtomicLong smallMemory = new AtomicLong();

    /** Calls of {@link #admit} whose form has not ended. */
    private final AtomicInteger uses = new AtomicInteger();

    private volatile boolean admitted;
    private volatile @Nullable Throwable failure;
    private volatile long intentNanos;
    volatile List<S3Form.StoredPart> objects = List.of();

    // The state, which only events access.
    private State state = State.OPEN;
    private boolean hasMemory;
    private boolean hasEnded;
    private final Queue<Job> jobs = new ArrayDeque<>();
    private @Nullable CompletableFuture<String> firstIntent;
    private String intentName = "";

    /** The number of jobs whose request is being made. */
    private int inFlight;

    /** The number of leased segments that sinks are filling. */
    private int filling;

    private final Queue<S3Sink> waiting = new ArrayDeque<>();
    private boolean isRequestingMemory;

    /** The readiness of the admission, and then of the commit. */
    private @Nullable Readiness pending;

    FormUpload(S3Sinks sinks, String id) {
        this.sinks = sinks;
        this.events = new FormEvents(sinks.store, this::advance, this::fail);
        this.id = id;
        this.since = sinks.clock.instant();
        this.sinceNanos = sinks.nanoClock.getAsLong();
    }

    // ---- called by the form

    Readiness admit() {
        if (uses.getAndIncrement() > 0 || admitted) {
            throw new IllegalStateException(
                    "the S3Form was used for another form already: call S3Sinks.newForm() for each form");
        }
        admitted = true;
        sinks.begun();
        Readiness ready = Readiness.pending();
        CompletableFuture<Long> granted = sinks.memory.admit();
        events.post(() -> {
            pending = ready;
            events.cancellable(granted, (bytes, cause) -> {
                if (cause == null) {
                    hasMemory = true;
                    ready.ready();
                }
            });
        });
        return ready;
    }

    /** @param chosenKey the key that the application has chosen, or null for a generated key */
    S3Sink add(PartHead part, @Nullable String chosenKey, String contentType, Map<String, String> metadata) {
        String number = String.valueOf(files.size() + 1);
        boolean isChosen = chosenKey != null;
        String key = Objects.requireNonNullElseGet(chosenKey, () -> sinks.protocol.fileKey(id, number));
        ObjectStore.Target target = new ObjectStore.Target(
                key, Objects.requireNonNull(contentType, "contentType"), metadata, isChosen && sinks.onlyNew);
        S3Sink file = new S3Sink(this, part, target, number, isChosen);
        files.add(file);
        return file;
    }

    Readiness commit() {
        Readiness ready = Readiness.pending();
        events.post(() -> {
            pending = ready;
            if (failure != null) {
                ready.fail(failure);
            } else if (published().findAny().isEmpty()) {
                ready.ready();
            } else {
                state = State.COMMITTING;
            }
        });
        return ready;
    }

    void cancelCommit(Throwable reason) {
        events.post(() -> fail(reason));
    }

    void ended() {
        if (uses.decrementAndGet() == 0) { // a rejected second use does not end the first one
            events.post(() -> {
                hasEnded = true;
                fail(new IOException("the form has ended"));
            });
        }
    }

    // ---- called by the sinks

    Segment newSegment() {
        return new Segment(smallMemory, sinks.memory::returnSegment);
    }

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

    /** Renews an intent before it becomes old, so that no sweep ends the form while it receives data. */
    void renewIntent() {
        long last = intentNanos;
        long now = sinks.nanoClock.getAsLong();
        if (last != 0 && now - last > sinks.maxAge.toNanos() / RENEWALS) {
            intentNanos = now;
            events.post(() -> {
                if (isActive()) {
                    events.request(sinks.protocol.putIntent(id, intentName), (done, cause) -> {});
                }
            });
        }
    }

    // ---- events

    private boolean isActive() {
        return state == State.OPEN || state == State.COMMITTING;
    }

    /** Fails the form, unless its record may have been written. */
    void fail(Throwable cause) {
        if (!isActive()) {
            return;
        }
        Throwable reason = Futures.unwrap(cause);
        failure = reason;
        state = State.FAILED;
        events.cancelRequests();
        releaseJobs();
        files.forEach(S3Sink::releaseContent);
        waiting.forEach(sink -> sink.settle(reason));
        waiting.clear();
        if (pending != null) {
            pending.fail(reason);
        }
    }

    /**
     * Handles the end of a file: all of its content has arrived.
     *
     * @param last the segment that was not sent yet, or null
     */
    void arrived(S3Sink file, @Nullable Segment last) {
        if (file.sent == 0 && (last == null || !last.isLeased())) {
            file.content = last == null ? newSegment() : last; // until the commit
        } else if (file.sent == 0 && last != null && !file.isChosen) {
            send(file, 0, last);
        } else { // no object may appear under a chosen key before the commit, so even one piece is a multipart upload
            file.pieceCount = file.sent + (last == null ? 0 : 1);
            if (last != null) {
                send(file, file.pieceCount, last);
            }
        }
    }

    /** Sends a segment that its sink has filled. */
    void send(S3Sink file, int number, Segment body) {
        filling -= body.isLeased() ? 1 : 0;
        if (isActive()) {
            jobs.add(new Job(file, number, body));
        } else {
            body.release();
        }
    }

    void lease(Segment segment, long capacity) {
        filling++;
        segment.lease(capacity);
    }

    /** Releases a segment that will not be sent. */
    void discard(Segment segment) {
        filling -= segment.isLeased() ? 1 : 0;
        segment.release();
    }

    void await(S3Sink sink) {
        Throwable cause = failure;
        if (cause == null) {
            waiting.add(sink);
        } else {
            sink.settle(cause);
        }
    }

    /** Begins everything that has become possible: called after each event. */
    private void advance() {
        if (isActive()) {
            S3Sink next = nextOfCommit();
            files.forEach(file -> store(file, !file.isChosen || file == next));
            serveWaiting();
            while (inFlight < sinks.segmentsInFlight && !jobs.isEmpty()) {
                sendBody(jobs.remove());
            }
            if (state == State.COMMITTING && published().allMatch(file -> file.stored != null)) {
                writeRecord();
            }
        }
        if (hasEnded && (state == State.COMMITTED || state == State.FAILED) && !events.hasOpenRequests()) {
            end();
        }
    }

    /** Stores a file as an object, if it is time and all of it has been received. */
    private void store(S3Sink file, boolean isTime) {
        boolean isUploaded = file.pieceCount > 0 && file.pieces.size() == file.pieceCount;
        if (isTime && isUploaded && !file.isStoring) {
            file.isStoring = true;
            events.cancellable(
                    sinks.store.complete(
                            file.target,
                            Objects.requireNonNull(file.uploadId()),
                            List.copyOf(file.pieces.values()),
                            file.size,
                            file.crc32()),
                    (stored, cause) -> file.stored = stored);
        } else if (isTime && state == State.COMMITTING && file.isPublished && file.content != null) {
            send(file, 0, file.content);
            file.content = null;
        }
    }

    /** {@return the next file of the commit: files with a chosen key come last, one after the other} */
    private @Nullable S3Sink nextOfCommit() {
        return published()
                .filter(file -> state == State.COMMITTING && file.stored == null)
                .min(Comparator.comparing(file -> file.isChosen))
                .orElse(null);
    }

    private Stream<S3Sink> published() {
        return files.stream().filter(file -> file.isPublished);
    }

    private void sendBody(Job job) {
        S3Sink file = job.file;
        boolean isWhole = job.number == 0;
        file.isStoring |= isWhole;
        inFlight++;
        CompletableFuture<?> before = isWhole ? beforeObject(file) : upload(file);
        events.request(before, (ready, problem) -> {
            if (problem != null || !isActive()) {
                sent(job);
            } else if (isWhole) {
                events.cancellable(Futures.tryCall(() -> sinks.store.put(file.target, job.body)), (stored, cause) -> {
                    sent(job);
                    file.stored = stored;
                });
            } else {
                String id = Objects.requireNonNull(file.uploadId());
                CompletableFuture<ObjectStore.Piece> sent =
                        Futures.tryCall(() -> sinks.store.upload(file.target, id, job.number, job.body));
                events.cancellable(sent, (piece, cause) -> {
                    sent(job);
                    if (piece != null) {
                        file.pieces.put(piece.number(), piece);
                    }
                });
            }
        });
    }

    private void sent(Job job) {
        inFlight--;
        job.body.release();
    }

    /** {@return a future that completes when the file may be stored: one intent is enough for all files that are each stored by one request} */
    private CompletableFuture<?> beforeObject(S3Sink file) {
        return file.isChosen ? sinks.probed() : firstIntent == null ? intent(file) : firstIntent;
    }

    private CompletableFuture<String> intent(S3Sink file) {
        CompletableFuture<String> written =
                sinks.probed().thenCompose(fine -> sinks.protocol.putIntent(id, file.number));
        if (firstIntent == null) {
            firstIntent = written;
            intentName = file.number;
        }
        intentNanos = sinks.nanoClock.getAsLong();
        events.request(written, (key, cause) -> file.intent = key);
        return written;
    }

    private CompletableFuture<ObjectStore.Created> upload(S3Sink file) {
        if (file.upload == null) {
            CompletableFuture<?> ready = file.isChosen ? sinks.probed() : intent(file);
            file.upload = ready.thenCompose(fine -> sinks.store.create(file.target));
        }
        return file.upload;
    }

    /** Gives memory to the sinks that wait for it, or requests memory for the first one. */
    private void serveWaiting() {
        while (!waiting.isEmpty() && !isRequestingMemory && jobs.size() + inFlight <= sinks.segmentsInFlight) {
            long wanted = sinks.segmentBytes(waiting.element().sent + 1);
            long capacity = sinks.memory.tryLease(wanted);
            if (capacity > 0) {
                waiting.remove().resume(capacity);
            } else if (jobs.size() + inFlight > 0) {
                return; // until a segment has been returned
            } else if (filling > 0) {
                fail(MultipartException.because(Reason.MEMORY_FULL)
                        .saying("two files of the form are written at the same time, and only one has memory")
                        .build());
            } else {
                isRequestingMemory = true;
                boolean continues = files.stream().anyMatch(S3Sink::isBegun);
                events.cancellable(sinks.memory.lease(wanted, continues), (granted, cause) -> {
                    isRequestingMemory = false;
                    if (granted != null && !waiting.isEmpty()) {
                        waiting.remove().resume(granted);
                    } else if (granted != null) {
                        sinks.memory.returnSegment(granted);
                    }
                });
            }
        }
    }

    private boolean isYoung() {
        return Duration.between(since, sinks.clock.instant()).compareTo(CommitProtocol.MAX_COMMIT_TIME) < 0
                && sinks.nanoClock.getAsLong() - sinceNanos < CommitProtocol.MAX_COMMIT_TIME.toNanos();
    }

    private void writeRecord() {
        List<S3Form.StoredPart> stored = published()
                .map(file -> new S3Form.StoredPart(file.part, Objects.requireNonNull(file.stored)))
                .toList();
        List<FormRecord.File> recorded = published().map(S3Sink::recorded).toList();
        FormRecord record = new FormRecord(id, true, CommitProtocol.random(), recorded);
        state = State.WRITING;
        events.request(sinks.protocol.commit(record, this::isYoung), (done, cause) -> {
            if (cause != null) {
                state = State.COMMITTING; // so that the form can fail
                return;
            }
            state = State.COMMITTED;
            objects = stored;
            Objects.requireNonNull(pending).ready();
        });
    }

    private void releaseJobs() {
        jobs.forEach(job -> job.body.release());
        jobs.clear();
    }

    /** Cleans up: after a commit only the intents, after a failure everything that the form has stored. */
    private void end() {
        files.forEach(S3Sink::releaseContent);
        releaseJobs(); // of files that were not published
        CompletableFuture<?> done = Futures.DONE;
        for (S3Sink file : files) {
            String upload = file.uploadId();
            boolean mayStay = file.isChosen && file.isStoring; // its object may already be complete
            if (upload != null && file.stored == null && !mayStay) {
                IsolatedCall.run(() -> sinks.store.metrics().aborted());
                done = done.thenCompose(before -> sinks.store.abort(new ObjectStore.Upload(file.target.key(), upload)))
                        .handle((aborted, cause) -> null); // a sweep tries again
            }
        }
        List<String> intents = files.stream()
                .filter(file -> !file.mayHaveHiddenUpload())
                .flatMap(file -> Stream.ofNullable(file.intent))
                .toList();
        if (state == State.FAILED && files.stream().anyMatch(file -> file.intent != null)) {
            done = done.thenCompose(before -> sinks.protocol.end(id));
        } else if (state == State.COMMITTED && files.stream().noneMatch(S3Sink::isUnlisted)) {
            done = done.thenCompose(before -> sinks.protocol.forget(intents));
        }
        state = State.ENDED;
        if (hasMemory) {
            sinks.memory.end();
        }
        done.whenComplete((ended, cause) -> sinks.ended());
    }
}

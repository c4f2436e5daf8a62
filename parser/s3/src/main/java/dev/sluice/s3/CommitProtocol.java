package dev.sluice.s3;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The protocol that makes a form of several objects visible as a whole, or not at all, with one conditional write.
 *
 * <table>
 * <caption>The objects of a form</caption>
 * <tr><th>key</th><th>content</th><th>written</th></tr>
 * <tr><td>{@code <prefix>.open/<id>/<n>}</td><td>an <em>intent</em>: file {@code n} may exist, or an upload of it</td><td>before
 * anything of that file</td></tr>
 * <tr><td>{@code <prefix>.open/<id>/probe}</td><td>an intent without a form; sweeps end it like a form</td><td>by {@link #probe}, which
 * deletes it</td></tr>
 * <tr><td>{@code <prefix><id>/<n>}</td><td>file {@code n}</td><td>when it has arrived</td></tr>
 * <tr><td>{@code <prefix><id>/form.json}</td><td>the {@link FormRecord}: committed, or ended (a <em>tombstone</em>)</td><td>last, with
 * {@code If-None-Match: *}</td></tr>
 * </table>
 *
 * <p><b>The rule.</b> A form exists if and only if its {@code form.json} is intact and says {@code committed}. All other objects are its
 * content or garbage. A reader that misses a file reads the record again: a tombstone means that the form was deleted in the meantime.
 *
 * <p><b>Commit.</b> All files are stored; then the record is written. The store lets exactly one conditional write succeed. A write that
 * has failed, or whose response was lost, proves nothing, so the record is read: the form's own record means success, and a tombstone means
 * that a sweep has ended the form. If the key is absent, the write is repeated. If that settles nothing, the form itself writes a
 * tombstone, with the same condition: then the store has either the tombstone, and the form has failed, or the record, and the form is
 * committed. If this does not settle it either, or all of this takes longer than {@link #MAX_SETTLE_TIME}, the outcome is unknown, and the
 * form fails with 503. Its clean-up then tries once more to end it as described below, and deletes only files that are in no record. The
 * same rule decides whether a form that is aborted while its record is being written is committed.
 *
 * <p><b>End.</b> To end an abandoned form, a tombstone is written to the same key, with the same condition. If an intact tombstone is read
 * back, the form can no longer be committed. Only then are its files and uploads deleted. If a record is read back, the form exists, and
 * nothing of it is deleted.
 *
 * <p><b>Sweep.</b> Any process may end the forms whose intents are old. Committed forms normally have no intents, so the cost depends on
 * the number of unfinished forms. A tombstone and its intents stay for {@link #TOMBSTONE_AGE}, because requests may arrive late; each
 * {@link Sweep} deletes again what they have stored. Ages are differences of two times of the store, and decide only when a form is ended.
 * While a form receives data, it writes one of its intents again, so that no sweep ends it. A sweep finds intents of a committed form in two
 * cases: its node died before it had deleted them, or the form left something that its record does not list (an unpublished file, or an
 * upload created by a repeated request). It removes only the intents and these leftovers. Stores may still list the upload that has become a
 * file, and may delete the file if that upload is aborted, so the record lists the upload as well.
 *
 * <p><b>Delete.</b> A committed form is deleted by replacing its record by a tombstone with {@code If-Match}.
 *
 * <p><b>Why it is safe.</b> A file is deleted only after an intact tombstone was read, or if an intact record does not list it. A
 * tombstone is written in two cases: if the key is absent, and then no record can be written while the tombstone exists; or to replace
 * the record of a form that is being deleted. So a stale or missing response, a late or repeated request, or a wrong clock can delay a
 * clean-up or fail a form that is being received. It cannot delete a file of a committed form, and a reader never sees an incomplete
 * form. The tombstone is removed after a time in which no request of its form can be in progress: before each write of its record, a form
 * checks that it is at most {@link #MAX_COMMIT_TIME} old, and stores reject requests that were signed more than 15 minutes ago. The age
 * of a tombstone is counted by the clock of the store and by the clock of the sweeping process, and the lower age decides.
 *
 * <p><b>Chosen keys.</b> An object under a key of the application is stored just before the record. It is never deleted, because
 * another writer may have replaced it. It has no intent: a sweep must not abort uploads under a key that others may use.
 */
final class CommitProtocol {
    /** The time for which a tombstone stays. */
    static final Duration TOMBSTONE_AGE = Duration.ofDays(7);

    /** The age at which a form can no longer be committed. */
    static final Duration MAX_COMMIT_TIME = TOMBSTONE_AGE.minusDays(2);

    /**
     * The time after which the outcome of a commit counts as unknown. With the default time limit of a request, a commit to a store that never
     * responds ends earlier.
     */
    static final Duration MAX_SETTLE_TIME = Duration.ofMinutes(5);

    /** The name of the intent that is written before a committed form is deleted. */
    static final String DELETION = "delete";

    static final int MAX_ATTEMPTS = 6;
    private static final Duration PAUSE = Duration.ofMillis(50);

    /** The numbers of files, in keys of files and of intents. */
    private static final String NUMBER = "[1-9][0-9]*";

    private static final String ID = "[0-9a-f]{32}";

    /** The time for which the intents of committed forms are collected, so that one request deletes them. */
    private static final Duration COLLECTING = Duration.ofMillis(250);

    private static final SecureRandom RANDOM = new SecureRandom();

    final ObjectStore store;
    final String prefix;
    final String open;
    private final ConcurrentLinkedQueue<String> forgotten = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean isCollecting = new AtomicBoolean();

    /** @param prefix the start of all keys */
    CommitProtocol(ObjectStore store, String prefix) {
        this.store = store;
        this.prefix = prefix;
        this.open = prefix + ".open/";
    }

    /** {@return 32 random hexadecimal digits} */
    static String random() {
        byte[] bytes = new byte[16];
        RANDOM.nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    String fileKey(String id, String number) {
        return prefix + id + '/' + number;
    }

    String intentKey(String id, String name) {
        return open + id + '/' + name;
    }

    String recordKey(String id) {
        return prefix + id + "/form.json";
    }

    static boolean isId(String text) {
        return text.matches(ID);
    }

    static boolean isNumber(String text) {
        return text.matches(NUMBER);
    }

    /** {@return whether the protocol may write or delete an object of this key} */
    boolean isOwn(String key) {
        return key.startsWith(open)
                || key.startsWith(prefix)
                        && key.substring(prefix.length()).matches(ID + "/(" + NUMBER + "|form\\.json)");
    }

    // ---- before the first form

    /**
     * Checks that the bucket exists, and that the store obeys both conditions for a single client. A condition counts as obeyed only if the
     * store rejects a write because of it. After any other failure that may be temporary, the step is repeated. The object is written as the
     * intent of a form that does not exist, so that sweeps delete it if the process is killed.
     *
     * @return a future that completes if the store can be used, and otherwise fails with the reason
     */
    CompletableFuture<Void> probe() {
        String key = intentKey(random(), "probe");
        return store.list(open, null) // some stores create a missing bucket when an object is written
                .thenCompose(listed -> probe(key, "1", null, null, 1)
                        .thenCompose(first -> probe(key, "2", null, "If-None-Match", 1))
                        .thenCompose(first -> probe(key, "3", "\"0\"", "If-Match", 1))
                        .thenCompose(first -> probe(key, "4", first.etag(), null, 1))
                        .handle((done, failure) -> store.delete(List.of(key)).handle((gone, problem) -> failure))
                        .thenCompose(Function.identity()))
                .thenCompose(failure ->
                        failure == null ? Futures.DONE : CompletableFuture.failedFuture(Futures.unwrap(failure)));
    }

    /**
     * Writes a value under a condition, and reads the object back.
     *
     * @param violated the header whose condition does not hold, so that the write must fail; null if the condition holds
     * @return the object, if the store obeys the condition
     */
    private CompletableFuture<ObjectStore.Content> probe(
            String key, String value, @Nullable String etag, @Nullable String violated, int attempt) {
        byte[] bytes = value.getBytes(StandardCharsets.US_ASCII);
        return store.write(key, bytes, etag)
                .handle((written, failure) -> failure == null ? null : Futures.unwrap(failure))
                .thenCompose(failure -> store.read(key).thenCompose(found -> {
                    boolean isWritten = found != null && Arrays.equals(found.bytes(), bytes);
                    boolean isRejected = failure instanceof FileAlreadyExistsException;
                    if (found != null && (violated == null ? isWritten : isRejected)) {
                        return CompletableFuture.completedFuture(found);
                    } else if (!isWritten
                            && attempt < MAX_ATTEMPTS
                            && (failure == null || !Retries.isPermanent(failure))) {
                        return store.after(PAUSE.multipliedBy(1L << attempt))
                                .thenCompose(paused -> probe(key, value, etag, violated, attempt + 1));
                    }
                    String reason = violated == null
                            ? "the object store does not show what was written to it"
                            : "the object store ignores the header " + violated
                                    + ", without which forms cannot be committed safely; use another store";
                    return CompletableFuture.failedFuture(
                            failure == null || isWritten || isRejected ? new IOException(reason) : failure);
                }));
    }

    // ---- for a form

    /** Writes an intent, or writes it again. {@return its key} */
    CompletableFuture<String> putIntent(String id, String name) {
        String key = intentKey(id, name);
        Segment body = Segment.of(id.getBytes(StandardCharsets.US_ASCII));
        return store.put(new ObjectStore.Target(key, "text/plain", Map.of(), false), body)
                .whenComplete((stored, failure) -> body.release())
                .thenApply(stored -> key);
    }

    /**
     * Commits a form.
     *
     * @param isYoung whether the form is younger than {@link #MAX_COMMIT_TIME}
     * @return a future that completes within {@link #MAX_SETTLE_TIME} if the form is committed, and otherwise fails: the form can no longer
     *     be committed, or the outcome is not known
     */
    CompletableFuture<Void> commit(FormRecord record, BooleanSupplier isYoung) {
        FormRecord tombstone = FormRecord.tombstone(record.id(), random());
        CompletableFuture<FormRecord> outcome = new CompletableFuture<>();
        CompletableFuture<FormRecord> settled = settle(
                        record, null, () -> isYoung.getAsBoolean() && !outcome.isDone(), 1)
                .exceptionallyCompose(failure -> settle(tombstone, null, () -> true, 1)
                        .handle((standing, problem) -> {
                            if (standing == null) {
                                throw unknown(record.id(), problem);
                            } else if (standing.equals(tombstone)) {
                                throw new CompletionException(Futures.unwrap(failure));
                            }
                            return standing;
                        }));
        Futures.forward(settled, outcome);
        CompletableFuture<Void> limit = Futures.tryCall(() -> store.after(MAX_SETTLE_TIME));
        limit.thenRun(() -> outcome.completeExceptionally(
                unknown(record.id(), new IOException("the object store does not respond"))));
        outcome.whenComplete((standing, failure) -> limit.cancel(false));
        return outcome.thenAccept(standing -> {
            if (!standing.equals(record)) {
                throw new CompletionException(tookSoLong("it was ended by a sweep"));
            }
        });
    }

    /** Ends a form unless it is committed, and deletes the files that are not committed. {@return their number} */
    CompletableFuture<Integer> end(String id) {
        return settleTombstone(id, null).thenCompose(this::deleteFiles);
    }

    /**
     * Writes a tombstone under a condition.
     *
     * @param etag the record to replace, or null if there must be none
     * @return the intact record or tombstone that is then in the store; the future fails if that is not known
     */
    CompletableFuture<FormRecord> settleTombstone(String id, @Nullable String etag) {
        return settle(FormRecord.tombstone(id, random()), etag, () -> true, 1);
    }

    private CompletableFuture<FormRecord> settle(
            FormRecord mine, @Nullable String etag, BooleanSupplier mayWrite, int attempt) {
        if (!mayWrite.getAsBoolean()) {
            return CompletableFuture.failedFuture(tookSoLong("it can no longer be committed"));
        }
        return Futures.tryCall(() -> store.write(recordKey(mine.id()), mine.bytes(), etag))
                .handle((written, failure) -> failure)
                .thenCompose(failure -> failure == null && mine.isCommitted()
                        ? CompletableFuture.completedFuture(mine)
                        : readRecord(mine.id()).thenCompose(found -> {
                            FormRecord standing = found == null ? null : FormRecord.parse(mine.id(), found.bytes());
                            if (found != null
                                    && standing != null
                                    && !found.etag().equals(etag)) {
                                return CompletableFuture.completedFuture(standing);
                            } else if (attempt >= MAX_ATTEMPTS || failure != null && Retries.isPermanent(failure)) {
                                return CompletableFuture.failedFuture(Objects.requireNonNullElseGet(
                                        failure, () -> new IOException("the object store shows no record")));
                            }
                            return store.after(PAUSE.multipliedBy(1L << attempt))
                                    .thenCompose(paused -> settle(mine, etag, mayWrite, attempt + 1));
                        }));
    }

    private static MultipartException tookSoLong(String that) {
        return MultipartException.because(Reason.UNAVAILABLE)
                .saying("the form took so long that " + that + "; send it again")
                .build();
    }

    private CompletionException unknown(String id, Throwable cause) {
        return unavailable(
                "it is not known whether the form is stored: look for " + recordKey(id) + " before you send it again",
                cause);
    }

    private static CompletionException unavailable(String message, Throwable cause) {
        return new CompletionException(MultipartException.because(Reason.UNAVAILABLE)
                .saying(message)
                .cause(Futures.unwrap(cause))
                .build());
    }

    /** {@return the record or tombstone that was read, or null if there is none; throws if it is damaged} */
    @Nullable
    FormRecord intact(String id, ObjectStore.@Nullable Content found) {
        FormRecord record = found == null ? null : FormRecord.parse(id, found.bytes());
        if (found != null && record == null) {
            throw new CompletionException(new IOException("the record is damaged: " + recordKey(id)));
        }
        return record;
    }

    /** Tries to delete the intents of a committed form, together with the intents of other forms. */
    CompletableFuture<Void> forget(Collection<String> intents) {
        forgotten.addAll(intents);
        return isCollecting.getAndSet(true)
                ? Futures.DONE
                : Futures.tryCall(() -> store.after(COLLECTING))
                        .handle((collected, closed) -> null)
                        .thenCompose(collected -> {
                            isCollecting.set(false);
                            List<String> keys = new ArrayList<>();
                            for (String key; (key = forgotten.poll()) != null; ) {
                                keys.add(key);
                            }
                            return deleteAll(keys);
                        })
                        .exceptionally(failure -> null); // a sweep deletes what is left
    }

    /** Deletes any number of objects. */
    CompletableFuture<Void> deleteAll(List<String> keys) {
        return Futures.inBatches(keys, store::delete);
    }

    /** Calls {@code each} for one page of a listing after the other. The token {@code next} is null for the first one. */
    CompletableFuture<Void> pages(
            String start, @Nullable String next, Function<ObjectStore.Page, CompletableFuture<Void>> each) {
        return store.list(start, next)
                .thenCompose(page -> each.apply(page)
                        .thenCompose(done -> page.next() == null ? Futures.DONE : pages(start, page.next(), each)));
    }

    /** Deletes the files of a form that its record does not list; a tombstone lists none. {@return their number} */
    CompletableFuture<Integer> deleteFiles(FormRecord standing) {
        String folder = prefix + standing.id() + '/';
        Set<String> listed =
                standing.files().stream().map(file -> file.stored().key()).collect(Collectors.toSet());
        AtomicInteger count = new AtomicInteger();
        return pages(folder, null, page -> {
                    List<String> files = page.objects().stream()
                            .map(ObjectStore.Listed::key)
                            .filter(key -> isNumber(key.substring(folder.length())) && !listed.contains(key))
                            .toList();
                    count.addAndGet(files.size());
                    return deleteAll(files);
                })
                .thenApply(done -> count.get());
    }

    // ---- for readers

    /**
     * {@return the stored record or tombstone, unchecked, or null} An identifier may come from a client, so an invalid one is not put into a
     * key.
     */
    CompletableFuture<ObjectStore.@Nullable Content> readRecord(String id) {
        return isId(id) ? store.read(recordKey(id)) : CompletableFuture.completedFuture(null);
    }

    /** {@return the intact record or tombstone of a form, or null if there is none} */
    CompletableFuture<@Nullable FormRecord> read(String id) {
        return readRecord(id).thenApply(found -> intact(id, found));
    }

    /** Deletes a committed form. {@return whether there was one} */
    CompletableFuture<Boolean> delete(String id) {
        return readRecord(id).thenCompose(found -> {
            FormRecord record = intact(id, found);
            if (found == null || record == null || !record.isCommitted()) {
                return CompletableFuture.completedFuture(false);
            }
            return putIntent(id, DELETION)
                    .thenCompose(intent -> settleTombstone(id, found.etag())
                            .handle((standing, failure) -> {
                                if (standing == null || standing.isCommitted()) {
                                    throw unavailable(
                                            "the form may still be stored; delete it again",
                                            failure == null ? new IOException("the record has changed") : failure);
                                }
                                return standing;
                            })
                            .thenCompose(this::deleteFiles))
                    .thenApply(cleaned -> true);
        });
    }
}

package dev.sluice.s3;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * How a form of several objects comes into being, or not, by one conditional write.
 *
 * <table>
 * <caption>The objects of a form</caption>
 * <tr><th>key</th><th>content</th><th>written</th></tr>
 * <tr><td>{@code <prefix>.open/<id>/<n>}</td><td>an <em>intent</em>: file {@code n} may exist, or an upload of it</td><td>before
 * anything of that file</td></tr>
 * <tr><td>{@code <prefix><id>/<n>}</td><td>file {@code n}</td><td>when it has arrived</td></tr>
 * <tr><td>{@code <prefix><id>/form.json}</td><td>the {@link FormRecord}: committed, or ended (a <em>tombstone</em>)</td><td>last, with
 * {@code If-None-Match: *}</td></tr>
 * </table>
 *
 * <p><b>The rule.</b> A form exists if and only if its {@code form.json} is intact and says {@code committed}. All other objects are its
 * content or garbage. A reader that misses a file reads the record again: a tombstone means that the form was deleted meanwhile.
 *
 * <p><b>Commit.</b> All files are stored; then the record is written. The store lets exactly one conditional write succeed. A
 * failed or unproven one says nothing, so the record is read: the own record means success, a tombstone means that the form was ended
 * by somebody else. If the key is absent, the write is repeated. Everything else is unknown: the form fails, and nothing is
 * deleted.
 *
 * <p><b>End.</b> To end an abandoned form, a tombstone is written to the same key, with the same condition. If an intact tombstone is
 * read back, the form cannot be committed any more, and only then its files and uploads are deleted. If a record is read
 * back, the form exists, and nothing of it is deleted.
 *
 * <p><b>Sweep.</b> Any process may end the forms whose intents are old. Committed forms have no intents, so the cost follows the
 * unfinished forms. A tombstone and its intents stay for {@link #TOMBSTONE_AGE}, because requests may arrive late; each sweep
 * deletes again what they have stored. Ages are differences of two times of the store, and decide only when a form is
 * ended. A form writes one of its intents again while it receives data, so that it stays young.
 *
 * <p><b>Delete.</b> A committed form is deleted by replacing its record by a tombstone with {@code If-Match}.
 *
 * <p><b>Why it is safe.</b> Files are deleted only after an intact tombstone was read. A tombstone exists only if the key was
 * absent, and then no record can be written while it exists; or if it replaced the record of a deletion. So a stale or missing
 * answer, a late or repeated request, or a wrong clock can delay a clean-up or fail a form that is being received. It cannot delete
 * a file of a committed form, and a reader never sees a part of a form. The tombstone is removed after a time in which no request
 * of its form can be under way: forms give up long before ({@link #TOMBSTONE_AGE} after their last intent), and stores reject
 * requests that were signed more than 15 minutes ago.
 *
 * <p><b>Chosen keys.</b> An object under a key of the application is stored just before the record. It is never deleted, because
 * another writer may have replaced it. It has no intent: a sweep must not abort uploads under a key that others may use.
 */
final class CommitProtocol {
    /** The time for which a tombstone stays. */
    static final Duration TOMBSTONE_AGE = Duration.ofDays(7);

    /** The name of the intent of a deletion. */
    private static final String DELETION = "delete";

    private static final CompletableFuture<Void> DONE = CompletableFuture.completedFuture(null);
    private static final int MOST_ATTEMPTS = 6;
    private static final Duration PAUSE = Duration.ofMillis(50);
    private static final int BATCH = 500;

    /** The time in which the intents of committed forms are collected, to be deleted by one request. */
    private static final Duration COLLECTING = Duration.ofMillis(250);

    private static final SecureRandom RANDOM = new SecureRandom();

    final ObjectStore store;
    final String prefix;
    private final String open;
    private final Duration maxAge;
    private final Duration tombstoneAge;
    private final ConcurrentLinkedQueue<String> forgotten = new ConcurrentLinkedQueue<>();
    private final AtomicInteger forgetting = new AtomicInteger();

    /**
     * @param prefix of all keys
     * @param maxAge the age of intents at which a sweep ends their form
     * @param tombstoneAge {@link #TOMBSTONE_AGE}, except in tests
     */
    CommitProtocol(ObjectStore store, String prefix, Duration maxAge, Duration tombstoneAge) {
        this.store = store;
        this.prefix = prefix;
        this.open = prefix + ".open/";
        this.maxAge = maxAge;
        this.tombstoneAge = tombstoneAge;
    }

    /** {@return 32 random hexadecimal digits} */
    static String random() {
        byte[] bytes = new byte[16];
        RANDOM.nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    String fileKey(String id, int number) {
        return prefix + id + '/' + number;
    }

    String recordKey(String id) {
        return prefix + id + "/form.json";
    }

    // ---- for a form

    /** Writes the intent of a file, or writes it again. {@return the key of the intent} */
    CompletableFuture<String> intend(String id, int number) {
        return putIntent(id, Integer.toString(number));
    }

    private CompletableFuture<String> putIntent(String id, String name) {
        String key = open + id + '/' + name;
        Segment body = Segment.of(id.getBytes(StandardCharsets.US_ASCII));
        return store.put(new ObjectStore.Target(key, "text/plain", Map.of(), false), body)
                .whenComplete((stored, failure) -> body.release())
                .thenApply(stored -> key);
    }

    /** Commits a form. {@return complete if the record was written; fails if it was not, or if that is not known} */
    CompletableFuture<Void> commit(FormRecord record) {
        return settle(record, null, 1).thenAccept(standing -> {
            if (!standing.equals(record)) {
                throw new CompletionException(MultipartException.because(Reason.UNAVAILABLE)
                        .saying("the form took so long that it was ended by a sweep; send it again")
                        .build());
            }
        });
    }

    /** Ends a form unless it is committed, and deletes its files. {@return whether it is ended; fails if that is not known} */
    CompletableFuture<Boolean> end(String id) {
        return settle(FormRecord.tombstone(id, random()), null, 1).thenCompose(standing -> {
            boolean ended = !standing.isCommitted();
            return (ended ? deleteFiles(id, null, new Tally()) : DONE).thenApply(cleaned -> ended);
        });
    }

    /**
     * Writes a record or a tombstone under a condition.
     *
     * @param etag the record to replace, or null if there must be none
     * @return the intact record or tombstone that stands then; fails if that is not known
     */
    private CompletableFuture<FormRecord> settle(FormRecord mine, @Nullable String etag, int attempt) {
        return store.write(recordKey(mine.id()), mine.bytes(), etag)
                .handle((written, failure) -> failure)
                .thenCompose(failure -> failure == null && mine.isCommitted()
                        ? CompletableFuture.completedFuture(mine)
                        : standing(mine, etag, attempt, failure));
    }

    private CompletableFuture<FormRecord> standing(
            FormRecord mine, @Nullable String etag, int attempt, @Nullable Throwable failure) {
        return store.read(recordKey(mine.id())).thenCompose(found -> {
            FormRecord standing = found == null ? null : FormRecord.parse(mine.id(), found.bytes());
            boolean unchanged = found == null ? etag == null : found.etag().equals(etag);
            if (standing != null && !unchanged) {
                return CompletableFuture.completedFuture(standing);
            } else if (attempt >= MOST_ATTEMPTS || failure != null && Retries.isHopeless(failure)) {
                return CompletableFuture.failedFuture(unknown(mine.id(), failure));
            }
            return store.after(PAUSE.multipliedBy(1L << attempt))
                    .thenCompose(paused -> settle(mine, etag, attempt + 1));
        });
    }

    private IOException unknown(String id, @Nullable Throwable failure) {
        return new IOException("it is not known whether the form is committed: " + recordKey(id), failure);
    }

    private IOException damaged(String id) {
        return new IOException("the record is damaged: " + recordKey(id));
    }

    /** Deletes the intents of a committed form, together with the intents of other forms. {@return complete when that was tried} */
    CompletableFuture<Void> forget(Collection<String> intents) {
        forgotten.addAll(intents);
        return forgetting.getAndIncrement() > 0
                ? CompletableFuture.completedFuture(null)
                : store.after(COLLECTING).thenCompose(collected -> forgetNext());
    }

    private CompletableFuture<Void> forgetNext() {
        int calls = forgetting.get();
        List<String> batch = new ArrayList<>();
        for (String key; batch.size() < BATCH && (key = forgotten.poll()) != null; ) {
            batch.add(key);
        }
        return deleteAll(batch)
                .handle((done, failure) ->
                        forgotten.isEmpty() && forgetting.addAndGet(-calls) == 0) // else a sweep does
                .thenCompose(done -> done ? DONE : forgetNext());
    }

    private CompletableFuture<Void> deleteAll(List<String> keys) {
        return keys.isEmpty() ? DONE : store.delete(keys);
    }

    // ---- for readers

    /** {@return the intact record or tombstone of a form, or null if there is none} */
    CompletableFuture<@Nullable FormRecord> read(String id) {
        return store.read(recordKey(id)).thenApply(found -> {
            FormRecord record = found == null ? null : FormRecord.parse(id, found.bytes());
            if (found != null && record == null) {
                throw new CompletionException(damaged(id));
            }
            return record;
        });
    }

    /** Deletes a committed form. {@return whether there was one} */
    CompletableFuture<Boolean> delete(String id) {
        return store.read(recordKey(id)).thenCompose(found -> {
            FormRecord record = found == null ? null : FormRecord.parse(id, found.bytes());
            if (found == null || record == null || !record.isCommitted()) {
                return CompletableFuture.completedFuture(false);
            }
            return putIntent(id, DELETION)
                    .thenCompose(intent -> settle(FormRecord.tombstone(id, random()), found.etag(), 1))
                    .thenCompose(standing -> standing.isCommitted()
                            ? CompletableFuture.failedFuture(unknown(id, null))
                            : deleteFiles(id, null, new Tally()))
                    .thenApply(cleaned -> true);
        });
    }

    // ---- sweep

    /** The names of the intents of a form. */
    private record Open(String id, Set<String> names, Instant youngest, Instant now) {}

    /** Ends the forms whose intents are old. {@return what was done} */
    CompletableFuture<S3Sinks.Swept> sweep() {
        Map<String, Open> forms = new LinkedHashMap<>();
        Tally tally = new Tally();
        return listOpen(forms, null)
                .thenCompose(listed ->
                        each(forms.values().stream().filter(this::isOld).toList(), form -> sweep(form, tally)))
                .thenApply(done -> tally.swept());
    }

    private boolean isOld(Open form) {
        return !form.youngest.isAfter(form.now.minus(maxAge));
    }

    private CompletableFuture<Void> listOpen(Map<String, Open> forms, @Nullable String next) {
        return store.list(open, next).thenCompose(page -> {
            for (ObjectStore.Listed intent : page.objects()) {
                String[] path = intent.key().substring(open.length()).split("/", -1);
                if (path.length == 2 && path[0].matches("[0-9a-f]{32}")) {
                    forms.computeIfAbsent(
                            path[0], id -> new Open(id, new LinkedHashSet<>(), intent.modified(), page.now()));
                    forms.computeIfPresent(path[0], (id, form) -> {
                        form.names.add(path[1]);
                        return form.youngest.isAfter(intent.modified())
                                ? form
                                : new Open(id, form.names, intent.modified(), page.now());
                    });
                }
            }
            return page.next() == null ? CompletableFuture.completedFuture(null) : listOpen(forms, page.next());
        });
    }

    /** What a sweep has done; one form is swept after the other. */
    private static final class Tally {
        private int forms;
        private int uploads;
        private int objects;

        S3Sinks.Swept swept() {
            return new S3Sinks.Swept(forms, uploads, objects);
        }
    }

    private CompletableFuture<Void> sweep(Open form, Tally tally) {
        return store.read(recordKey(form.id)).thenCompose(found -> {
            if (found != null) {
                FormRecord record = FormRecord.parse(form.id, found.bytes());
                return record == null
                        ? CompletableFuture.failedFuture(damaged(form.id))
                        : sweep(form, record, isExpired(found.modified(), found.now()), tally);
            }
            return settle(FormRecord.tombstone(form.id, random()), null, 1).thenCompose(standing -> {
                tally.forms += standing.isCommitted() ? 0 : 1;
                return sweep(form, standing, false, tally);
            });
        });
    }

    private CompletableFuture<Void> sweep(Open form, FormRecord standing, boolean isExpired, Tally tally) {
        return abortUploads(form, tally)
                .thenCompose(aborted -> standing.isCommitted() ? DONE : deleteFiles(form.id, null, tally))
                .thenCompose(cleaned -> {
                    if (standing.isCommitted()) { // the process died before it had deleted the intents
                        return deleteAll(intents(
                                form,
                                name -> !name.equals(DELETION)
                                        || isExpired(form.youngest, form.now))); // a deletion may be under way
                    } else if (isExpired) {
                        return store.delete(List.of(recordKey(form.id)))
                                .thenCompose(gone -> store.delete(intents(form, name -> true)));
                    }
                    return putIntent(form.id, form.names.iterator().next())
                            .thenAccept(renewed -> {}); // rests until it is old
                });
    }

    private List<String> intents(Open form, Predicate<String> which) {
        return form.names.stream()
                .filter(which)
                .map(name -> open + form.id + '/' + name)
                .toList();
    }

    private boolean isExpired(Instant modified, Instant now) {
        return !modified.isAfter(now.minus(tombstoneAge));
    }

    private CompletableFuture<Void> abortUploads(Open form, Tally tally) {
        List<String> keys = form.names.stream()
                .filter(name -> !name.equals(DELETION))
                .map(name -> prefix + form.id + '/' + name)
                .toList();
        return each(keys, key -> abortAll(key, tally));
    }

    private CompletableFuture<Void> abortAll(String key, Tally tally) {
        return store.uploads(key)
                .thenCompose(found -> each(found, upload -> {
                    tally.uploads++;
                    return store.abort(upload);
                }));
    }

    private CompletableFuture<Void> deleteFiles(String id, @Nullable String next, Tally tally) {
        return store.list(prefix + id + '/', next).thenCompose(page -> {
            List<String> files = page.objects().stream()
                    .map(ObjectStore.Listed::key)
                    .filter(key -> !key.equals(recordKey(id)))
                    .toList();
            tally.objects += files.size();
            return deleteAll(files)
                    .thenCompose(gone -> page.next() == null ? DONE : deleteFiles(id, page.next(), tally));
        });
    }

    /** Takes {@code step} for each item in turn, whether or not earlier steps fail. {@return complete at the end, with the first failure} */
    private static <T> CompletableFuture<Void> each(Collection<T> items, Function<T, CompletableFuture<Void>> step) {
        List<Throwable> failures = new ArrayList<>();
        CompletableFuture<Void> done = CompletableFuture.completedFuture(null);
        for (T item : items) {
            done = done.thenCompose(before -> step.apply(item)).exceptionally(failure -> {
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

    // ---- probe

    /** Checks that the bucket exists and that the store obeys both conditions. {@return complete if it does; fails with the reason otherwise} */
    CompletableFuture<Void> probe() {
        String key = prefix + ".probe/" + random();
        byte[] first = {'1'};
        byte[] second = {'2'};
        return store.list(open, null) // some stores create a missing bucket when an object is written
                .thenCompose(listed -> store.write(key, first, null))
                .thenCompose(written -> store.write(key, second, null).handle((again, failure) -> failure == null))
                .thenCompose(again -> requireThat(!again, "If-None-Match"))
                .thenCompose(fine -> store.write(key, second, "\"0\"").handle((replaced, failure) -> failure == null))
                .thenCompose(replaced -> requireThat(!replaced, "If-Match"))
                .thenCompose(fine -> store.read(key))
                .thenCompose(found -> found == null || found.bytes()[0] != '1'
                        ? requireThat(false, "If-None-Match")
                        : store.write(key, second, found.etag()))
                .handle((done, failure) -> store.delete(List.of(key)).handle((gone, problem) -> failure))
                .thenCompose(Function.identity())
                .thenCompose(failure -> failure == null
                        ? CompletableFuture.completedFuture(null)
                        : CompletableFuture.failedFuture(Retries.unwrap(failure)));
    }

    private static CompletableFuture<Void> requireThat(boolean isObeyed, String header) {
        return isObeyed
                ? CompletableFuture.completedFuture(null)
                : CompletableFuture.failedFuture(new IOException("the object store ignores the header " + header
                        + ", without which forms cannot be committed safely; use another store"));
    }
}

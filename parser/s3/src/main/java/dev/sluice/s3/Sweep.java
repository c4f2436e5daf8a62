package dev.sluice.s3;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** One sweep, as {@link CommitProtocol} describes it. It processes forms one at a time. */
final class Sweep {
    /**
     * The intents of one form: their names, when the youngest was written, and when it was listed. Both times are by the clock of the
     * store.
     */
    private record Open(String id, Set<String> names, Instant youngest, Instant now) {}

    private final CommitProtocol protocol;
    private final ObjectStore store;
    private final Duration maxAge;
    private final Duration tombstoneAge;
    private final InstantSource clock;
    private int forms;
    private int uploads;
    private int objects;

    /**
     * @param maxAge a form is ended once all of its intents are at least this old
     * @param tombstoneAge {@link CommitProtocol#TOMBSTONE_AGE}, except in tests
     * @param clock the clock of this process
     */
    Sweep(CommitProtocol protocol, Duration maxAge, Duration tombstoneAge, InstantSource clock) {
        this.protocol = protocol;
        this.store = protocol.store;
        this.maxAge = maxAge;
        this.tombstoneAge = tombstoneAge;
        this.clock = clock;
    }

    /**
     * Ends the forms whose intents are old, and deletes what checks of the store have left. {@return the counts of what was done}
     */
    CompletableFuture<S3Sinks.Swept> run() {
        Map<String, Open> found = new LinkedHashMap<>();
        return listOpen(found, null)
                .thenCompose(listed -> each(
                        found.values().stream()
                                .filter(form -> isOld(form.youngest, form.now))
                                .toList(),
                        this::sweep))
                .thenCompose(swept -> deleteProbes(null))
                .thenApply(done -> new S3Sinks.Swept(forms, uploads, objects));
    }

    private boolean isOld(Instant modified, Instant now) {
        return !modified.isAfter(now.minus(maxAge));
    }

    /** Deletes what processes have left that died while they checked the store. */
    private CompletableFuture<Void> deleteProbes(@Nullable String next) {
        return store.list(protocol.prefix + StoreProbe.FOLDER, next)
                .thenCompose(page -> protocol.deleteAll(page.objects().stream()
                                .filter(probe -> isOld(probe.modified(), page.now()))
                                .map(ObjectStore.Listed::key)
                                .toList())
                        .thenCompose(gone -> page.next() == null ? CommitProtocol.DONE : deleteProbes(page.next())));
    }

    /**
     * {@return whether {@code modified} is at least {@code tombstoneAge} ago by both the clock of the store and the clock of this process,
     * so that no request made before it can still be in progress}
     */
    private boolean isExpired(Instant modified, Instant now) {
        Instant here = clock.instant();
        return !modified.isAfter((here.isBefore(now) ? here : now).minus(tombstoneAge));
    }

    private CompletableFuture<Void> listOpen(Map<String, Open> found, @Nullable String next) {
        return store.list(protocol.open, next).thenCompose(page -> {
            for (ObjectStore.Listed intent : page.objects()) {
                String[] path = intent.key().substring(protocol.open.length()).split("/", -1);
                if (path.length == 2 && CommitProtocol.isId(path[0])) {
                    Open form = found.computeIfAbsent(
                            path[0], id -> new Open(id, new LinkedHashSet<>(), intent.modified(), page.now()));
                    form.names.add(path[1]);
                    if (intent.modified().isAfter(form.youngest)) {
                        found.put(path[0], new Open(form.id, form.names, intent.modified(), page.now()));
                    }
                }
            }
            return page.next() == null ? CommitProtocol.DONE : listOpen(found, page.next());
        });
    }

    private CompletableFuture<Void> sweep(Open form) {
        return protocol.readRecord(form.id).thenCompose(found -> {
            FormRecord record = protocol.intact(form.id, found);
            if (found != null && record != null) {
                return sweep(form, record, isExpired(found.modified(), found.now()));
            }
            return protocol.settleTombstone(form.id, null).thenCompose(standing -> {
                forms += standing.isCommitted() ? 0 : 1;
                return sweep(form, standing, false);
            });
        });
    }

    private CompletableFuture<Void> sweep(Open form, FormRecord standing, boolean isExpired) {
        return abortUploads(form, standing)
                .thenCompose(aborted -> protocol.deleteFiles(standing))
                .thenCompose(deleted -> {
                    objects += deleted;
                    if (standing.isCommitted()) { // a deletion may be in progress
                        return deleteIntents(
                                form,
                                name -> !name.equals(CommitProtocol.DELETION) || isExpired(form.youngest, form.now));
                    } else if (isExpired) {
                        return protocol.deleteTombstone(form.id).thenCompose(gone -> deleteIntents(form, name -> true));
                    }
                    return protocol.putIntent(form.id, form.names.iterator().next())
                            .thenAccept(renewed -> {}); // the form is left alone until this intent is old again
                });
    }

    private CompletableFuture<Void> deleteIntents(Open form, Predicate<String> which) {
        return protocol.deleteAll(form.names.stream()
                .filter(which)
                .map(name -> protocol.open + form.id + '/' + name)
                .toList());
    }

    /** Aborts the uploads of a form, except those that have become its files. */
    private CompletableFuture<Void> abortUploads(Open form, FormRecord standing) {
        Set<String> completed = standing.files().stream()
                .map(FormRecord.File::upload)
                .filter(Objects::nonNull)
                .collect(Collectors.toSet());
        List<String> keys = form.names.stream()
                .filter(CommitProtocol::isNumber)
                .map(name -> protocol.prefix + form.id + '/' + name)
                .toList();
        return each(
                keys,
                key -> store.uploads(key)
                        .thenCompose(found -> each(
                                found.stream()
                                        .filter(upload -> !completed.contains(upload.id()))
                                        .toList(),
                                upload -> {
                                    uploads++;
                                    return store.abort(upload);
                                })));
    }

    /**
     * Runs {@code step} for each item in turn, even if an earlier one has failed. {@return a future that completes after the last step, and
     * fails with the first failure if there was one}
     */
    private static <T> CompletableFuture<Void> each(Collection<T> items, Function<T, CompletableFuture<Void>> step) {
        List<Throwable> failures = new ArrayList<>();
        CompletableFuture<Void> done = CommitProtocol.DONE;
        for (T item : items) {
            done = done.thenCompose(before -> step.apply(item)).exceptionally(failure -> {
                failures.add(Retries.unwrap(failure));
                return null;
            });
        }
        return done.thenCompose(tried -> {
            if (failures.isEmpty()) {
                return CommitProtocol.DONE;
            }
            Throwable first = failures.get(0);
            failures.stream().filter(other -> other != first).forEach(first::addSuppressed);
            return CompletableFuture.failedFuture(first);
        });
    }
}

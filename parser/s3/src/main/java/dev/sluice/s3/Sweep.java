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

/** One sweep, as {@link CommitProtocol} describes it. It sweeps one form after the other. */
final class Sweep {
    /** The names of the intents of a form, and when the youngest was written and all were listed, by the clock of the store. */
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
     * @param maxAge the age of intents at which their form is ended
     * @param tombstoneAge {@link CommitProtocol#TOMBSTONE_AGE}, except in tests
     * @param clock of this process
     */
    Sweep(CommitProtocol protocol, Duration maxAge, Duration tombstoneAge, InstantSource clock) {
        this.protocol = protocol;
        this.store = protocol.store;
        this.maxAge = maxAge;
        this.tombstoneAge = tombstoneAge;
        this.clock = clock;
    }

    /** Ends the forms whose intents are old. {@return what was done} */
    CompletableFuture<S3Sinks.Swept> run() {
        Map<String, Open> found = new LinkedHashMap<>();
        return listOpen(found, null)
                .thenCompose(listed ->
                        each(found.values().stream().filter(this::isOld).toList(), this::sweep))
                .thenApply(done -> new S3Sinks.Swept(forms, uploads, objects));
    }

    private boolean isOld(Open form) {
        return !form.youngest.isAfter(form.now.minus(maxAge));
    }

    /** {@return whether no request that was made before {@code modified} can be under way, whichever clock is wrong} */
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
                    if (standing.isCommitted()) { // a deletion may be under way
                        return deleteIntents(
                                form,
                                name -> !name.equals(CommitProtocol.DELETION) || isExpired(form.youngest, form.now));
                    } else if (isExpired) {
                        return protocol.deleteTombstone(form.id).thenCompose(gone -> deleteIntents(form, name -> true));
                    }
                    return protocol.putIntent(form.id, form.names.iterator().next())
                            .thenAccept(renewed -> {}); // rests until it is old
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

    /** Takes {@code step} for each item in turn, whether or not earlier steps fail. {@return complete at the end, with the first failure} */
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

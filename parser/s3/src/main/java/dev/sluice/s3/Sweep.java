package dev.sluice.s3;

import dev.sluice.task.IsolatedCall;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** One sweep, as {@link CommitProtocol} describes it. It processes forms one at a time. Forms that cannot be swept do not stop it. */
final class Sweep {
    /** The intents of one form, with the times when they were written, and when they were listed, by the clock of the store. */
    private record Open(String id, Map<String, Instant> intents, Instant now) {
        Instant youngest() {
            return Collections.max(intents.values());
        }
    }

    private final CommitProtocol protocol;
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
        this.maxAge = maxAge;
        this.tombstoneAge = tombstoneAge;
        this.clock = clock;
    }

    /** {@return the counts of a sweep, which ends the forms whose intents are old} */
    CompletableFuture<S3Sinks.Swept> run() {
        Map<String, Open> found = new LinkedHashMap<>();
        return protocol.pages(protocol.open, null, page -> {
                    page.objects().forEach(intent -> add(found, intent, page.now()));
                    return Futures.DONE;
                })
                .thenCompose(listed -> Futures.each(
                        found.values().stream()
                                .filter(form -> !form.youngest().isAfter(form.now.minus(maxAge)))
                                .toList(),
                        this::sweep))
                .whenComplete((done, failure) ->
                        IsolatedCall.run(() -> protocol.store.metrics().swept(uploads, objects)))
                .thenApply(done -> new S3Sinks.Swept(forms, uploads, objects));
    }

    private void add(Map<String, Open> found, ObjectStore.Listed intent, Instant now) {
        String[] path = intent.key().substring(protocol.open.length()).split("/", -1);
        if (path.length == 2 && CommitProtocol.isId(path[0])) {
            found.computeIfAbsent(path[0], id -> new Open(id, new LinkedHashMap<>(), now))
                    .intents
                    .put(path[1], intent.modified());
        }
    }

    /**
     * {@return whether {@code modified} is at least {@code tombstoneAge} ago by both the clock of the store and the clock of this process,
     * so that no request made before it can still be in progress}
     */
    private boolean isExpired(Instant modified, Instant now) {
        Instant here = clock.instant();
        return !modified.isAfter((here.isBefore(now) ? here : now).minus(tombstoneAge));
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
                                name -> !name.equals(CommitProtocol.DELETION) || isExpired(form.youngest(), form.now));
                    } else if (isExpired) {
                        return protocol.deleteAll(List.of(protocol.recordKey(form.id)))
                                .thenCompose(gone -> deleteIntents(form, name -> true));
                    }
                    return protocol.putIntent(
                                    form.id, form.intents.keySet().iterator().next())
                            .thenAccept(renewed -> {}); // the form is left alone until this intent is old again
                });
    }

    private CompletableFuture<Void> deleteIntents(Open form, Predicate<String> which) {
        return protocol.deleteAll(form.intents.keySet().stream()
                .filter(which)
                .map(name -> protocol.intentKey(form.id, name))
                .toList());
    }

    /** Aborts the uploads of a form, except those that have become its files. */
    private CompletableFuture<Void> abortUploads(Open form, FormRecord standing) {
        Set<String> completed = standing.files().stream()
                .map(FormRecord.File::upload)
                .filter(Objects::nonNull)
                .collect(Collectors.toSet());
        List<String> keys = form.intents.keySet().stream()
                .filter(CommitProtocol::isNumber)
                .map(name -> protocol.fileKey(form.id, name))
                .toList();
        return Futures.each(
                keys,
                key -> protocol.store
                        .uploads(key)
                        .thenCompose(found -> Futures.each(
                                found.stream()
                                        .filter(upload -> !completed.contains(upload.id()))
                                        .toList(),
                                upload -> protocol.store.abort(upload).thenRun(() -> uploads++))));
    }
}

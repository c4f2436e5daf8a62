package dev.sluice.s3;

import dev.sluice.PartHead;
import dev.sluice.form.FormAdmission;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.PartDecider;
import dev.sluice.form.PartDecision;
import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The objects of one form, and the memory for them: two segments, reserved before its first byte is read, one to be filled
 * and one under way; more where the budget has room. As a decider it gives files to the store and keeps fields in memory.
 *
 * <p>No object is visible before all of the form has come well and every byte is in the store. If one cannot be made visible,
 * those before are deleted again, or named in the error. While more than one become visible a note in the store names them
 * all; if the process is killed then, a {@linkplain S3Sinks#sweep sweep} finds it and deletes them. The form has ended well
 * only when the note is gone.
 */
public final class S3Form implements PartDecider, FormAdmission {
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final int MOST_OF_NAME = 1024;

    /** This part of the budget is not for segments. */
    private static final int LEFT = 16;

    /** More than until a form that waits is told that there is no memory for it. */
    private static final Duration ANSWER = Duration.ofSeconds(10);

    private static final String UNKNOWN_TYPE = "application/octet-stream";

    /**
     * A file that is an object now.
     *
     * @param part what its headers said
     * @param stored where it is
     */
    public record StoredPart(PartHead part, ObjectStore.Stored stored) {}

    final ReentrantLock lock = new ReentrantLock();
    final S3Sinks sinks;
    private final MemoryBudget.Account account;
    private final List<S3Sink> all = new ArrayList<>();
    private @Nullable Note note;
    private @Nullable CompletableFuture<Void> admission;
    private long slotBytes;
    private int freeSlots;
    private int users;
    private long kept;

    /** How often bytes of a file have come; under the lock. */
    long arrivals;

    S3Form(S3Sinks sinks) {
        this.sinks = sinks;
        this.account = sinks.budget.open();
    }

    /**
     * {@return these options for this form alone: it begins when it has its memory, and files go to the store; {@code
     * maxSinkWait} is longer than {@link S3Sinks.Builder#maxWait}}
     *
     * @param defaults those of all forms
     */
    public FormOptions options(FormOptions defaults) {
        Duration least = Duration.ofNanos(sinks.maxWaitNanos).plus(ANSWER);
        return defaults.toBuilder()
                .admission(this)
                .decider(this)
                .maxSinkWait(defaults.maxSinkWait().compareTo(least) < 0 ? least : defaults.maxSinkWait())
                .build();
    }

    /** {@inheritDoc} Ready when its two segments are reserved, of the usual size or of 5 MiB each. */
    @Override
    public Readiness admit() {
        begun();
        return reserve();
    }

    /** {@inheritDoc} A sink or a segment may end later; with the last of them the memory goes back. */
    @Override
    public void ended() {
        lock.lock();
        try {
            if (--users == 0) {
                account.release(2 * Segment.memory(slotBytes));
                slotBytes = 0;
                if (admission != null) {
                    admission.cancel(false);
                    admission = null;
                }
            }
        } finally {
            lock.unlock();
        }
        sinks.serveLater();
        sinks.ended();
    }

    /** {@inheritDoc} */
    @Override
    public PartDecision decide(PartHead part) {
        if (part.filename() == null) {
            return PartDecision.storeInMemory();
        }
        return sinks.sniffer == null || said(part) != null
                ? PartDecision.to(sink(part))
                : PartDecision.peek(
                        sinks.sniffedBytes, first -> PartDecision.to(sink(part, sinks.sniffer.apply(first))));
    }

    /** {@return a sink for this part, under a random key} */
    public PartSink sink(PartHead part) {
        return sink(part, Objects.requireNonNullElse(said(part), UNKNOWN_TYPE));
    }

    /** {@return what the client says of its type, where that is asked for and can be a header of a request} */
    private @Nullable String said(PartHead part) {
        String said = sinks.clientContentType ? part.contentType() : null;
        return said != null && said.matches("[ -~]+") ? said : null;
    }

    /**
     * {@return a sink for this part, under a random key}
     *
     * @param contentType the media type of the object
     */
    public PartSink sink(PartHead part, String contentType) {
        return sink(part, contentType, sinks.prefix + random(), true);
    }

    /**
     * {@return a sink for this part}
     *
     * @param contentType the media type of the object
     * @param key its name, of the application and never of the client; the {@linkplain S3Sinks.Builder#prefix prefix} is not
     *     added, but it should begin with it: a sweep sees no other uploads. An object that is replaced does not come
     *     back if the form fails: see {@link S3ObjectStore.Builder#onlyNew}
     */
    public PartSink sink(PartHead part, String contentType, String key) {
        return sink(part, contentType, key, false);
    }

    private PartSink sink(PartHead part, String contentType, String key, boolean ownKey) {
        String name = part.filename();
        Map<String, String> metadata = name == null ? Map.of() : Map.of("filename", encoded(name));
        S3Sink sink = new S3Sink(this, part, new ObjectStore.Target(key, random(), ownKey, contentType, metadata));
        lock.lock();
        try {
            all.add(sink);
            begun();
        } finally {
            lock.unlock();
        }
        return sink;
    }

    private static String random() {
        byte[] bytes = new byte[16];
        RANDOM.nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    /** {@return {@code text} with percent escapes, as in URIs; no more than fits in a header} */
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

    /** {@return the files of the form, in order, once it is complete; before that those that are visible} */
    public List<StoredPart> objects() {
        lock.lock();
        try {
            List<StoredPart> objects = new ArrayList<>();
            for (S3Sink sink : all) {
                ObjectStore.Stored stored = sink.stored();
                if (stored != null) {
                    objects.add(new StoredPart(sink.part, stored));
                }
            }
            return List.copyOf(objects);
        } finally {
            lock.unlock();
        }
    }

    // ---- visible, all or none; under the lock

    /** {@return the note of the objects of this form, made when the first is to be visible} */
    Note note() {
        Note made = note;
        if (made == null) {
            made = new Note(
                    sinks, random(), all.stream().filter(S3Sink::isToCome).toList());
            note = made;
        }
        return made;
    }

    /** Of this object nothing is there, nor will be. */
    void undone(S3Sink sink) {
        if (note != null) {
            note.undone(sink);
        }
    }

    // ---- memory

    /** {@return ready when the form has its segments, failed if there are none in time} */
    Readiness reserve() {
        CompletableFuture<Void> asked = new CompletableFuture<>();
        boolean first;
        lock.lock();
        try {
            first = admission == null;
            asked = first ? asked : Objects.requireNonNull(admission);
            admission = asked;
        } finally {
            lock.unlock();
        }
        if (first) {
            sinks.admit(this, asked);
        }
        Readiness ready = Readiness.pending();
        asked.whenComplete((granted, failure) -> settle(ready, failure));
        return ready;
    }

    static void settle(Readiness ready, @Nullable Throwable cause) {
        if (cause == null) {
            ready.ready();
        } else {
            ready.fail(Retries.unwrap(cause));
        }
    }

    /** {@return whether its two segments are its own now; smaller ones where memory is short} */
    boolean tryReserve() {
        if (!lock.tryLock()) { // of those who wait for one another one has to give way
            return false;
        }
        try {
            for (long size : new long[] {sinks.segmentBytes, S3Sinks.LEAST_SEGMENT}) {
                if (users > 0 && slotBytes == 0 && take(2 * Segment.memory(size))) {
                    freeSlots = 2;
                    slotBytes = size;
                }
            }
            return slotBytes > 0;
        } finally {
            lock.unlock();
        }
    }

    /** Leaves some: what the forms themselves hold is not much, and has to be there. */
    private boolean take(long bytes) {
        return sinks.budget.hasRoom(bytes + sinks.budget.capacity() / LEFT) && account.tryReserve(bytes);
    }

    /** {@return the room that there has to be for a form} */
    static long least(MemoryBudget budget) {
        return 2 * Segment.memory(S3Sinks.LEAST_SEGMENT) + budget.capacity() / LEFT;
    }

    /**
     * {@return a segment for the piece of that number, or null if there is none now: {@code whenFree} follows}
     *
     * @param whenFree of this call alone; also called when memory is short, and the segment should be sent as it is
     */
    @Nullable
    Segment open(int piece, Runnable whenFree) {
        long wanted = sinks.segmentBytes(piece);
        if (wanted > slotBytes || freeSlots == 0) {
            if (!sinks.isShort() && take(Segment.memory(wanted))) {
                begun();
                Segment extra = new Segment(wanted, () -> freed(wanted, whenFree));
                extra.isExtra = true;
                sinks.extras.add(whenFree);
                return extra;
            }
            if (freeSlots == 0) {
                return null;
            }
        }
        freeSlots--;
        begun();
        return new Segment(slotBytes, () -> freed(0, whenFree));
    }

    /** @param extra the size of one beside the two segments, or 0 for one of these */
    private void freed(long extra, Runnable whenFree) {
        lock.lock();
        try {
            if (extra == 0) {
                freeSlots++;
            } else {
                account.release(Segment.memory(extra));
                sinks.extras.remove(whenFree);
            }
        } finally {
            lock.unlock();
        }
        whenFree.run();
        ended();
    }

    /** {@return whether it may be kept until the form has ended: then it is charged for what it is} */
    boolean keep(Segment segment) {
        long bytes = segment.pinned();
        if (kept + bytes > sinks.keptBytes || !account.tryReserve(bytes)) {
            return false;
        }
        kept += bytes;
        begun();
        segment.recharge(() -> {
            account.release(bytes);
            ended();
        });
        return true;
    }

    void begun() {
        lock.lock();
        users++;
        lock.unlock();
        sinks.begun();
    }

    /** Deletes what is visible, last first. {@return complete when that was tried} */
    CompletableFuture<Void> takeBack() {
        CompletableFuture<Void> done = CompletableFuture.completedFuture(null);
        for (int at = all.size(); at-- > 0; ) {
            S3Sink sink = all.get(at);
            if (sink.stored() != null) {
                done = done.thenCompose(before -> sink.retraction()).handle((ok, failure) -> null);
            }
        }
        return done;
    }
}

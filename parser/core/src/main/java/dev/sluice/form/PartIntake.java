package dev.sluice.form;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.PartHead;
import dev.sluice.Setting;
import dev.sluice.transfer.TransferDecoder;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One part on its way: undoes its transfer encoding, asks where it goes, if need be after a look at its first bytes, and
 * brings it there. Each call writes to the sink once at most.
 */
final class PartIntake implements AutoCloseable {
    private static final PartSink NOWHERE = PartSink.discard();

    private static final byte[] NOTHING = {};

    private final FormOptions options;
    private final FormMemory memory;
    final PartHead head;
    private final @Nullable TransferDecoder transfer;
    private PartSink sink = NOWHERE;
    private @Nullable PartContent kept;
    private @Nullable SkippedPart refused;
    private long maxBytes = Long.MAX_VALUE;
    private long size;
    private int stepsOfEnd;

    /** The bytes held back for a look; empty where none is asked for. */
    private PartDecision.@Nullable Peek look;

    private byte[] first = NOTHING;
    private int firstSize;

    /** The start of a field that names the charset of the form, wherever it goes; null for other parts. */
    private final @Nullable ByteArrayOutputStream charsetName;

    PartIntake(FormOptions options, FormMemory memory, PartHead head) {
        this.options = options;
        this.memory = memory;
        this.head = head;
        this.transfer = options.multipart().decodeTransferEncodings()
                ? TransferDecoder.of(head.transferEncoding(), this::malformed)
                : null;
        this.charsetName = TextRules.namesCharset(head) ? new ByteArrayOutputStream() : null;
    }

    private MultipartException malformed(String what) {
        return head.because(Reason.MALFORMED_TRANSFER_ENCODING)
                .saying("the body of a part " + what)
                .build();
    }

    void decide() throws IOException {
        options.decider.decide(head).action.applyTo(this);
    }

    // ---- decisions

    void spill() {
        keep(new SpillSink(memory, memory.hasFiles(), threshold(), head));
    }

    void keepInMemory() {
        maxBytes = options.multipart().maxFieldBytes();
        keep(new SpillSink(memory, false, 0, head));
    }

    void giveTo(PartSink to) {
        sink = to;
    }

    void refuse(int status, String message) {
        refused = new SkippedPart(head, status, message);
    }

    void refuseForm(int status, String message) throws MultipartException {
        throw head.because(Reason.PART_REFUSED)
                .httpStatus(status)
                .saying(message)
                .build();
    }

    /** What is no file is text as a rule, and read in memory: small ones would fill a disk with files that save nothing. */
    private long threshold() {
        long set = options.spillThreshold();
        return head.filename() == null ? Math.max(set, Setting.SPILL_THRESHOLD.formDefault()) : set;
    }

    private void keep(SpillSink to) {
        kept = to.content();
        sink = to;
    }

    void holdBack(int bytes, PartDecision.Peek ask) throws IOException {
        if (look != null) {
            throw new IllegalStateException("a peek must return a decision, not another peek");
        }
        memory.reserve(bytes, head);
        first = new byte[bytes];
        look = ask;
    }

    // ---- bytes

    /** @param data as it came, <em>borrowed</em> */
    Readiness write(ByteBuf data) throws IOException {
        if (transfer == null) {
            return take(data);
        }
        byte[] decoded = new byte[TransferDecoder.mostFrom(data.readableBytes())];
        return take(Unpooled.wrappedBuffer(decoded, 0, transfer.decode(data, decoded)));
    }

    private Readiness take(ByteBuf data) throws IOException {
        if (first.length == 0) {
            return pass(data);
        }
        int moved = Math.min(data.readableBytes(), first.length - firstSize);
        data.readBytes(first, firstSize, moved);
        firstSize += moved;
        return firstSize < first.length ? Readiness.READY : decideByLook(data);
    }

    /** Passes what was held back, and {@code rest}. */
    private Readiness decideByLook(ByteBuf rest) throws IOException {
        PartDecision.Peek ask = look;
        byte[] bytes = Arrays.copyOf(first, firstSize);
        if (ask != null) {
            ask.decide(bytes.clone()).action.applyTo(this);
        }
        forgetFirst();
        ByteBuf all = Unpooled.wrappedBuffer(Unpooled.wrappedBuffer(bytes), rest.retainedSlice());
        try {
            return pass(all);
        } finally {
            all.release();
        }
    }

    private void forgetFirst() {
        if (first.length > 0) {
            memory.release(first.length);
            first = NOTHING;
        }
    }

    private Readiness pass(ByteBuf data) throws IOException {
        int count = data.readableBytes();
        if (count > maxBytes - size) {
            throw FormPart.tooLarge(head, maxBytes);
        }
        size += count;
        if (charsetName != null) {
            int wanted = Math.min(count, TextRules.MAX_CHARSET_NAME + 1 - charsetName.size());
            data.getBytes(data.readerIndex(), charsetName, wanted);
        }
        return count > 0 && sink != NOWHERE ? sink.write(data) : Readiness.READY;
    }

    /** The part has come as a whole. {@return not ready: call again once it is} */
    Readiness end() throws IOException {
        while (stepsOfEnd < 3) {
            Readiness ready = switch (stepsOfEnd++) {
                case 0 -> endTransfer();
                case 1 -> first.length > 0 ? decideByLook(Unpooled.EMPTY_BUFFER) : Readiness.READY;
                default -> sink == NOWHERE ? Readiness.READY : sink.complete();
            };
            if (!ready.checkReady()) {
                return ready;
            }
        }
        return Readiness.READY;
    }

    private Readiness endTransfer() throws IOException {
        if (transfer == null) {
            return Readiness.READY;
        }
        byte[] last = new byte[TransferDecoder.mostFrom(0)];
        return take(Unpooled.wrappedBuffer(last, 0, transfer.end(last)));
    }

    /** {@return how much memory {@link #evict} would give back} */
    long evictable() {
        return kept == null ? 0 : kept.evictable();
    }

    /** Moves to a file what has come. */
    void evict() throws IOException {
        if (kept != null) {
            kept.spill(memory, head);
        }
    }

    /** {@return the part, where it is kept in the form; it belongs to the caller} */
    @Nullable
    PartContent takeContent() {
        if (kept != null) {
            sink = NOWHERE;
        }
        return kept;
    }

    /** {@return the application's sink, or null: to be published and closed by the caller} */
    @Nullable
    PartSink takeSink() {
        PartSink taken = sink;
        sink = NOWHERE;
        return taken == NOWHERE ? null : taken;
    }

    /** {@return what the field that names the charset of the form says, one byte too many if more; null for other parts} */
    byte @Nullable [] charsetName() {
        return charsetName == null ? null : charsetName.toByteArray();
    }

    @Nullable
    SkippedPart refused() {
        return refused;
    }

    @Override
    public void close() {
        forgetFirst();
        sink.close();
    }
}

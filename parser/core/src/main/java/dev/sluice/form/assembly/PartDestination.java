package dev.sluice.form.assembly;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.PartHead;
import dev.sluice.Setting;
import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import dev.sluice.form.SkippedPart;
import dev.sluice.form.storage.FormMemory;
import dev.sluice.form.storage.StoredContent;
import dev.sluice.header.TransferEncoding;
import dev.sluice.legacy.TransferDecoder;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The destination of one part: memory or a file of the form, a sink of the application, or nowhere.
 *
 * <p>The {@link Decider} chooses the destination. This class decodes the transfer encoding of the part and writes the content. A decision
 * can depend on the first bytes. Until the decision is made, these bytes are collected in memory and charged to the form. Each call writes
 * to the sink at most once, so the returned readiness is the only one to wait for.
 */
public final class PartDestination implements AutoCloseable {
    private static final byte[] NOTHING = {};

    /** The internal counterpart of {@link dev.sluice.form.PartDecider} and {@link dev.sluice.form.PartDecision.Peek}. */
    public interface Decider<T> {
        Decision decide(T start) throws IOException;
    }

    /** The internal counterpart of {@link dev.sluice.form.PartDecision}. */
    public interface Decision {
        void applyTo(PartDestination part) throws IOException;
    }

    private final FormContext context;
    private final FormMemory memory;
    final PartHead head;
    private final @Nullable TransferDecoder transfer;

    /** The sink of the application; null for another destination. */
    private @Nullable PartSink sink;

    /** The content that the form stores; null for another destination. */
    private @Nullable StoredContent content;

    private @Nullable SkippedPart skipped;
    private long maxBytes = Long.MAX_VALUE;
    private long size;
    private int endSteps;

    /** The callback that decides once {@code peeked} holds the first bytes; null if there is none. */
    private @Nullable Decider<byte[]> peek;

    private byte[] peeked = NOTHING;
    private int peekedSize;

    /** A copy of the start of the {@code _charset_} field, because the field itself may go to a sink; null for other parts. */
    private final @Nullable ByteArrayOutputStream charsetField;

    PartDestination(FormContext context, FormMemory memory, PartHead head) {
        this.context = context;
        this.memory = memory;
        this.head = head;
        this.transfer = context.options().multipart().decodeTransferEncodings() ? TransferEncoding.decoder(head) : null;
        this.charsetField = TextRules.isCharsetField(head) ? new ByteArrayOutputStream() : null;
    }

    void decide() throws IOException {
        Decider<PartHead> decider = context.decider();
        if (decider == null) {
            store();
        } else {
            decider.decide(head).applyTo(this);
        }
    }

    // ---- decisions

    public void store() {
        long set = context.options().spillThreshold();
        boolean field = head.filename() == null; // fields are usually read into memory anyway
        long max = field ? Math.max(set, Setting.SPILL_THRESHOLD.formDefault()) : set;
        content = memory.hasFiles() ? StoredContent.movable(head, memory, max) : StoredContent.inMemory(head, memory);
    }

    public void storeInMemory() {
        maxBytes = context.options().multipart().maxFieldBytes();
        content = StoredContent.inMemory(head, memory);
    }

    public void sendTo(PartSink to) {
        sink = to;
    }

    public void skip(int status, String message) {
        skipped = new SkippedPart(head, status, message);
    }

    public void reject(int status, String message) throws MultipartException {
        throw head.because(Reason.PART_REFUSED)
                .httpStatus(status)
                .saying(message)
                .build();
    }

    public void peek(int bytes, Decider<byte[]> decision) throws IOException {
        if (peek != null) {
            throw new IllegalStateException("a peek must return a decision, not another peek");
        }
        memory.reserve(bytes, head);
        peeked = new byte[bytes];
        peek = decision;
    }

    // ---- bytes

    /** @param data bytes of the part before transfer decoding, <em>borrowed</em> */
    Readiness write(ByteBuf data) throws IOException {
        if (transfer == null) {
            return receive(data);
        }
        Readiness ready;
        do {
            ready = receive(transfer.decode(data));
        } while (data.isReadable()); // a second call throws, because the next byte is malformed
        return ready;
    }

    private Readiness receive(ByteBuf data) throws IOException {
        if (peeked.length == 0) {
            return passOn(data);
        }
        int moved = Math.min(data.readableBytes(), peeked.length - peekedSize);
        data.readBytes(peeked, peekedSize, moved);
        peekedSize += moved;
        return peekedSize < peeked.length ? Readiness.READY : decideByPeek(data);
    }

    /** Lets the callback decide, then passes on the collected bytes and {@code rest}. */
    private Readiness decideByPeek(ByteBuf rest) throws IOException {
        Decider<byte[]> decision = peek;
        byte[] bytes = Arrays.copyOf(peeked, peekedSize);
        if (decision != null) {
            decision.decide(bytes.clone()).applyTo(this);
        }
        memory.release(peeked.length);
        peeked = NOTHING;
        ByteBuf all = Unpooled.wrappedBuffer(Unpooled.wrappedBuffer(bytes), rest.retainedSlice());
        try {
            return passOn(all);
        } finally {
            all.release();
        }
    }

    private Readiness passOn(ByteBuf data) throws IOException {
        int count = data.readableBytes();
        if (count > maxBytes - size) {
            throw TextRules.tooLarge(head, maxBytes);
        }
        size += count;
        if (charsetField != null) {
            int wanted = Math.min(count, TextRules.MAX_CHARSET_NAME + 1 - charsetField.size());
            data.getBytes(data.readerIndex(), charsetField, wanted);
        }
        if (count == 0) {
            return Readiness.READY;
        } else if (sink != null) {
            return sink.write(data);
        } else if (content != null) {
            content.write(data);
        }
        return Readiness.READY;
    }

    /**
     * Ends the part after its last byte.
     *
     * @return {@link Readiness#READY}, or a readiness to wait for before the next call
     */
    Readiness end() throws IOException {
        while (endSteps < 3) {
            Readiness ready = switch (endSteps++) {
                case 0 -> transfer == null ? Readiness.READY : receive(transfer.end());
                case 1 -> peeked.length > 0 ? decideByPeek(Unpooled.EMPTY_BUFFER) : Readiness.READY;
                default -> complete();
            };
            if (!ready.checkReady()) {
                return ready;
            }
        }
        return Readiness.READY;
    }

    private Readiness complete() throws IOException {
        if (content != null) {
            content.complete();
        }
        return sink == null ? Readiness.READY : sink.complete();
    }

    /** {@return the number of bytes of memory that {@link #moveToFile} would release} */
    long movableBytes() {
        return content == null ? 0 : content.movableBytes();
    }

    /** Moves the bytes received so far to a file. */
    void moveToFile() throws IOException {
        if (content != null) {
            content.moveToFile();
        }
    }

    /** {@return the content, <em>transferred</em> to the caller; null if the form does not store the part} */
    @Nullable
    StoredContent takeContent() {
        StoredContent taken = content;
        content = null;
        return taken;
    }

    /**
     * {@return the sink of the application, <em>transferred</em> to the caller, who publishes and closes it; or null}
     */
    @Nullable
    PartSink takeSink() {
        PartSink taken = sink;
        sink = null;
        return taken;
    }

    /**
     * {@return the value of the {@code _charset_} field, cut to one byte more than the longest valid name; null for
     * other parts}
     */
    byte @Nullable [] charsetField() {
        return charsetField == null ? null : charsetField.toByteArray();
    }

    @Nullable
    SkippedPart skipped() {
        return skipped;
    }

    /** Closes the content and the sink. Bytes that were collected for a decision stay charged until the memory of the form is closed. */
    @Override
    public void close() {
        if (content != null) {
            content.close();
        }
        if (sink != null) {
            sink.close();
        }
    }
}

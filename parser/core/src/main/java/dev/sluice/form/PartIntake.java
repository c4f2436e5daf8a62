package dev.sluice.form;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.transfer.TransferDecoder;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** One part on its way: asks where it goes, if need be after a look at its first bytes, and brings it there. */
final class PartIntake implements PartSink {
    private final FormOptions options;
    private final RequestMemory memory;
    private final PartHead head;
    private final PartSink chain;
    private PartSink sink = PartSink.discard();
    private @Nullable SpillSink kept;
    private @Nullable RefusedPart refused;
    private long maxBytes = Long.MAX_VALUE;
    private long size;

    /** The bytes held back for a look; empty where none is asked for. */
    private PartDecision.@Nullable Look look;

    private byte[] first = {};
    private int firstSize;

    PartIntake(FormOptions options, RequestMemory memory, PartHead head) {
        this.options = options;
        this.memory = memory;
        this.head = head;
        this.chain = options.decodesTransferEncodings() ? decoding() : this;
    }

    private PartSink decoding() {
        String encoding = head.headers().first("Content-Transfer-Encoding");
        TransferDecoder decoder = TransferDecoder.of(encoding, this::malformed);
        return decoder == null ? this : new TransferDecodingSink(decoder, this);
    }

    private MultipartException malformed(String what) {
        return MultipartException.of(
                Reason.MALFORMED_TRANSFER_ENCODING,
                head.offset(),
                head.index(),
                "the body of a part " + what + " (part " + head.index() + ", offset " + head.offset() + ")");
    }

    /** {@return where to write the bytes as they come: a decoder in front of this, where one is due} */
    PartSink chain() {
        return chain;
    }

    PartHead head() {
        return head;
    }

    void decide() throws IOException {
        apply(options.decider().decide(head));
    }

    private void apply(PartDecision decision) throws IOException {
        switch (decision.kind()) {
            case SPILL ->
                keep(new SpillSink(memory, options.spool(), options.spillThreshold(), head.index(), head.offset()));
            case MEMORY -> {
                maxBytes = options.multipart().limits().maxFieldBytes();
                keep(new SpillSink(memory, null, 0, head.index(), head.offset()));
            }
            case SINK -> sink = decision.sink();
            case SKIP -> sink = PartSink.discard();
            case REFUSE -> {
                refused = new RefusedPart(head, decision.status(), decision.message());
                sink = PartSink.discard();
            }
            case REFUSE_ALL -> throw new PartRefusedException(decision.status(), head.index(), decision.message());
            case LOOK -> holdBack(decision);
        }
    }

    private void keep(SpillSink to) {
        kept = to;
        sink = to;
    }

    private void holdBack(PartDecision decision) throws IOException {
        if (look != null) {
            throw new IllegalStateException("a look at the first bytes has to decide, not to ask for another");
        }
        if (!memory.tryHard(decision.firstBytes())) {
            throw memory.refusal(head.offset(), head.index());
        }
        first = new byte[decision.firstBytes()];
        look = decision.look();
    }

    @Override
    public void write(ByteBuf data) throws IOException {
        int count = data.readableBytes();
        if (first.length > 0) {
            int moved = Math.min(count, first.length - firstSize);
            data.readBytes(first, firstSize, moved);
            firstSize += moved;
            if (firstSize < first.length) {
                return;
            }
            decideByLook();
        }
        pass(data);
    }

    private void decideByLook() throws IOException {
        PartDecision.Look ask = look;
        byte[] bytes = Arrays.copyOf(first, firstSize);
        if (ask != null) {
            apply(ask.decide(bytes.clone()));
        }
        forgetFirst();
        pass(Unpooled.wrappedBuffer(bytes));
    }

    private void forgetFirst() {
        memory.release(first.length);
        first = new byte[0];
    }

    private void pass(ByteBuf data) throws IOException {
        int count = data.readableBytes();
        if (count > maxBytes - size) {
            long at = head.offset() + maxBytes;
            throw MultipartException.of(
                    Reason.FIELD_TOO_LARGE,
                    at,
                    head.index(),
                    "the size of a part kept in memory exceeds the limit of " + maxBytes
                            + " bytes (maxFieldBytes; part " + head.index() + ", offset " + at + ")");
        }
        size += count;
        if (count > 0) {
            sink.write(data);
        }
    }

    @Override
    public void complete() throws IOException {
        if (first.length > 0) {
            decideByLook();
        }
        sink.complete();
    }

    /** {@return the part, where it is kept in the form; it belongs to the caller} */
    @Nullable
    PartContent takeContent() {
        return kept == null ? null : kept.takeContent();
    }

    @Nullable
    RefusedPart refused() {
        return refused;
    }

    @Override
    public void close() throws IOException {
        forgetFirst();
        sink.close();
        if (kept != null) {
            kept.discard(); // complete, but what came after that failed
        }
    }
}

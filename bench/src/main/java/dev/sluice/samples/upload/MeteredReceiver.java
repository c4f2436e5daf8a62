package dev.sluice.samples.upload;

import dev.sluice.samples.report.ErrorAnswer;
import io.netty.buffer.ByteBuf;
import java.util.concurrent.atomic.LongAdder;

/** Counts the bytes that come to another receiver, those of bodies that are never complete included. */
final class MeteredReceiver implements BodyReceiver {

    private final BodyReceiver receiver;
    private final LongAdder bytes;

    MeteredReceiver(BodyReceiver receiver, LongAdder bytes) {
        this.receiver = receiver;
        this.bytes = bytes;
    }

    @Override
    public boolean isReady() {
        return receiver.isReady();
    }

    @Override
    public boolean isOver() {
        return receiver.isOver();
    }

    @Override
    public void offer(ByteBuf chunk) {
        bytes.add(chunk.readableBytes());
        receiver.offer(chunk);
    }

    @Override
    public void finish() {
        receiver.finish();
    }

    @Override
    public void refuse(ErrorAnswer error) {
        receiver.refuse(error);
    }

    @Override
    public int partIndex() {
        return receiver.partIndex();
    }

    @Override
    public void abort() {
        receiver.abort();
    }
}

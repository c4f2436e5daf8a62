package dev.sluice.samples.upload;

import dev.sluice.bench.endtoend.Counted;
import dev.sluice.samples.report.ErrorAnswer;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.EventExecutor;

/** Releases each chunk on the event loop: what the server costs without a decoder. */
final class DroppingReceiver implements BodyReceiver {

    private final EventExecutor loop;
    private final Listener listener;
    private long bytes;
    private boolean over;

    DroppingReceiver(EventExecutor loop, Listener listener) {
        this.loop = loop;
        this.listener = listener;
    }

    @Override
    public boolean isReady() {
        return true;
    }

    @Override
    public boolean isOver() {
        return over;
    }

    @Override
    public void offer(ByteBuf chunk) {
        bytes += chunk.readableBytes();
        chunk.release();
    }

    @Override
    public void finish() {
        over = true;
        loop.execute(() -> listener.ended(null, new Counted(0, bytes, 0, 0, 0)));
    }

    @Override
    public void refuse(ErrorAnswer error) {
        over = true;
        loop.execute(() -> listener.ended(error, error.asAnswer()));
    }

    @Override
    public int partIndex() {
        return -1;
    }

    @Override
    public void abort() {
        over = true;
    }
}

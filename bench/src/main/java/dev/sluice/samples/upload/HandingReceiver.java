package dev.sluice.samples.upload;

import dev.sluice.bench.endtoend.Counted;
import dev.sluice.samples.report.ErrorAnswer;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.EventExecutor;

/**
 * Has each chunk released by a worker, as the server does with what it decodes, but without decoding: what going to another
 * thread costs.
 */
final class HandingReceiver implements BodyReceiver {

    private static final int MAX_IN_FLIGHT = 64;

    private final EventExecutor loop;
    private final EventExecutor worker;
    private final Listener listener;
    private int inFlight;
    private boolean paused;
    private boolean over;
    private boolean aborted;
    private long bytes;

    HandingReceiver(EventExecutor loop, EventExecutor worker, Listener listener) {
        this.loop = loop;
        this.worker = worker;
        this.listener = listener;
    }

    @Override
    public boolean isReady() {
        paused = inFlight > MAX_IN_FLIGHT;
        return !paused;
    }

    @Override
    public boolean isOver() {
        return over;
    }

    @Override
    public void offer(ByteBuf chunk) {
        bytes += chunk.readableBytes();
        inFlight++;
        worker.execute(() -> {
            chunk.release();
            loop.execute(this::done);
        });
    }

    private void done() {
        inFlight--;
        if (paused && inFlight <= MAX_IN_FLIGHT / 2) {
            paused = false;
            if (!aborted) {
                listener.ready();
            }
        }
    }

    @Override
    public void finish() {
        over = true;
        worker.execute(() -> loop.execute(() -> {
            if (!aborted) {
                listener.ended(null, new Counted(0, bytes, 0, 0, 0));
            }
        }));
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
        aborted = true;
        over = true;
    }
}

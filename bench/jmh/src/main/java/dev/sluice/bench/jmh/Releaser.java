package dev.sluice.bench.jmh;

import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.util.concurrent.Exchanger;

/** A thread that releases the buffers another thread has taken. */
final class Releaser extends FastThreadLocalThread {
    private final Exchanger<ByteBuf[]> handOver = new Exchanger<>();

    Releaser() {
        super("releaser");
        setDaemon(true);
    }

    @Override
    public void run() {
        try {
            for (; ; ) {
                ByteBuf[] buffers = handOver.exchange(null);
                for (ByteBuf buffer : buffers) {
                    buffer.release();
                }
                handOver.exchange(buffers);
            }
        } catch (InterruptedException e) {
            // the benchmark is over
        }
    }

    /** Returns when all are released. */
    int releaseAll(ByteBuf[] buffers) throws InterruptedException {
        handOver.exchange(buffers);
        return handOver.exchange(null).length;
    }
}

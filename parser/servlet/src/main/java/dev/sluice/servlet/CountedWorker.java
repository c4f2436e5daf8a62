package dev.sluice.servlet;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A worker of an asynchronous request, which keeps the form until it is done; or until it is plain that it will not
 * come: Jetty drops workers that have not begun when the request ends.
 */
final class CountedWorker implements Runnable {
    private final Runnable worker;
    private final RequestLife life;
    /** Whether it has begun, or was let go before. */
    private final AtomicBoolean decided = new AtomicBoolean();

    private final Runnable letGo = this::letGo;

    CountedWorker(Runnable worker, RequestLife life) {
        this.worker = worker;
        this.life = life;
        life.hold();
        life.awaits(letGo);
    }

    @Override
    public void run() {
        boolean counted = decided.compareAndSet(false, true);
        life.awaitsNoMore(letGo);
        try {
            worker.run();
        } finally {
            if (counted) {
                life.release();
            }
        }
    }

    /** Releases the form, unless the worker has begun. */
    void letGo() {
        life.awaitsNoMore(letGo);
        if (decided.compareAndSet(false, true)) {
            life.release();
        }
    }
}

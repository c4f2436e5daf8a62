package dev.sluice.servlet;

import java.util.concurrent.atomic.AtomicReference;

/**
 * A worker of an asynchronous request, which keeps the form until it is done; or until it is plain that it will not
 * come: Jetty drops workers that have not begun when the request ends.
 */
final class CountedWorker implements Runnable {
    private enum Stage {
        AWAITED,
        BEGUN,
        LET_GO
    }

    private final Runnable worker;
    private final RequestLife life;
    private final AtomicReference<Stage> stage = new AtomicReference<>(Stage.AWAITED);
    private final Runnable letGo = this::letGo;

    CountedWorker(Runnable worker, RequestLife life) {
        this.worker = worker;
        this.life = life;
        life.hold();
        life.awaits(letGo);
    }

    @Override
    public void run() {
        boolean counted = stage.compareAndSet(Stage.AWAITED, Stage.BEGUN);
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
        if (stage.compareAndSet(Stage.AWAITED, Stage.LET_GO)) {
            life.release();
        }
    }
}

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
    private final RequestState state;
    private final AtomicReference<Stage> stage = new AtomicReference<>(Stage.AWAITED);

    CountedWorker(Runnable worker, RequestState state) {
        this.worker = worker;
        this.state = state;
        state.hold();
        state.awaits(this);
    }

    @Override
    public void run() {
        boolean counted = stage.compareAndSet(Stage.AWAITED, Stage.BEGUN);
        state.awaitsNoMore(this);
        try {
            worker.run();
        } finally {
            if (counted) {
                state.release();
            }
        }
    }

    /** Releases the form, unless the worker has begun. */
    void letGo() {
        state.awaitsNoMore(this);
        if (stage.compareAndSet(Stage.AWAITED, Stage.LET_GO)) {
            state.release();
        }
    }
}

package dev.sluice.samples.upload.soak;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Concurrent clients, each on its own thread. */
final class Threads implements AutoCloseable {
    private final ExecutorService threads;

    Threads(int count) {
        this.threads = Executors.newFixedThreadPool(count);
    }

    /** {@return the results in order; fails if a client fails} */
    <T> List<T> all(List<Callable<T>> work) throws IOException, InterruptedException {
        List<T> results = new ArrayList<>();
        for (Future<T> done : threads.invokeAll(work)) {
            try {
                results.add(done.get());
            } catch (ExecutionException e) {
                throw new IOException("a client failed", e.getCause());
            }
        }
        return results;
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}

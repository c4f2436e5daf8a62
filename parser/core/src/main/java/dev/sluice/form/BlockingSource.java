package dev.sluice.form;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A body that one blocking thread reads from a stream. While it waits, the thread runs the tasks of other threads for the form. */
final class BlockingSource implements FormSource {
    private static final long LONGEST_WAIT_MILLIS = 1000;

    private final FormHead head;
    private final BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();

    BlockingSource(FormHead head) {
        this.head = head;
    }

    @Override
    public FormHead head() {
        return head;
    }

    @Override
    public void wanted() {
        tasks.add(() -> {});
    }

    @Override
    public void resume(Runnable work) {
        tasks.add(work);
    }

    /**
     * {@return the form}
     *
     * @param discards whether to read and discard the rest of a rejected form while there is demand for it
     */
    MultipartForm read(FormIntake intake, InputStream in, boolean discards) throws IOException {
        try {
            while ((discards || !intake.isOver()) && awaitDemand(intake) && intake.read(in, true) >= 0) {}
            while (!intake.completion.isDone()) {
                await(intake);
            }
        } catch (IOException | RuntimeException | Error e) {
            intake.abort(e); // keeps an earlier failure: the caller gets that, not an error of discarding
        }
        return result(intake);
    }

    private boolean awaitDemand(FormIntake intake) throws IOException {
        while (intake.demand() == 0 && !intake.isOver()) {
            await(intake);
        }
        return intake.demand() > 0;
    }

    private void await(FormIntake intake) throws IOException {
        try {
            Runnable task = tasks.poll(LONGEST_WAIT_MILLIS, TimeUnit.MILLISECONDS);
            if (task != null) {
                task.run();
            } else {
                intake.checkPace(System.nanoTime());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for a sink");
        }
    }

    private static MultipartForm result(FormIntake intake) throws IOException {
        try {
            return intake.completion.join();
        } catch (CompletionException e) {
            throw Readiness.thrown(Objects.requireNonNull(e.getCause()));
        }
    }
}

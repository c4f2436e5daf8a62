package dev.sluice.samples.upload;

import dev.sluice.Boundary;
import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartException;
import dev.sluice.MultipartOptions;
import dev.sluice.ReportedDeviation;
import dev.sluice.samples.report.ErrorAnswer;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.EventExecutor;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The way of one body from its connection to its sink. The decoder runs on the event loop; its events go, in order, to
 * one worker thread, which may block. What the worker has not done yet is bounded: {@link #isReady()} is false while
 * more than {@value #MAX_IN_FLIGHT_BYTES} bytes or {@value #MAX_IN_FLIGHT_BATCHES} chunks wait for it, and the
 * connection is not read from.
 */
final class BodyIntake implements BodyReceiver {
    private static final Logger LOG = LoggerFactory.getLogger(BodyIntake.class);
    private static final int MAX_IN_FLIGHT_BYTES = 1 << 20;
    private static final int MAX_IN_FLIGHT_BATCHES = 64;

    private final MultipartDecoder decoder;
    private final PartSink sink;
    private final EventExecutor loop;
    private final EventExecutor worker;
    private final ServerMetrics metrics;
    private final Listener listener;
    private long inFlightBytes;
    private int inFlightBatches;
    private boolean paused;
    private boolean over;
    private boolean aborted;
    private boolean told;
    private volatile boolean discarding;

    BodyIntake(
            Boundary boundary,
            MultipartOptions options,
            PartSink sink,
            EventExecutor loop,
            EventExecutor worker,
            ServerMetrics metrics,
            Listener listener) {
        this.decoder = MultipartDecoder.create(boundary, options);
        this.sink = sink;
        this.loop = loop;
        this.worker = worker;
        this.metrics = metrics;
        this.listener = listener;
    }

    @Override
    public boolean isReady() {
        if (inFlightBytes <= MAX_IN_FLIGHT_BYTES && inFlightBatches <= MAX_IN_FLIGHT_BATCHES) {
            return true;
        }
        paused = true;
        return false;
    }

    @Override
    public boolean isOver() {
        return over;
    }

    @Override
    public void offer(ByteBuf chunk) {
        int size = chunk.readableBytes();
        metrics.received(size);
        Batch batch = new Batch(size);
        try {
            decoder.feed(chunk);
            drain(batch);
        } catch (MultipartException e) {
            submit(batch);
            refuse(ErrorAnswer.of(e));
            return;
        } catch (Throwable e) {
            batch.release();
            throw e;
        }
        submit(batch);
    }

    private void drain(Batch batch) throws MultipartException {
        for (; ; ) {
            switch (decoder.next()) {
                case PART_BEGIN -> batch.begin(PartHead.of(decoder));
                case DATA -> batch.data(decoder.data().retain());
                case PART_END -> batch.end();
                case NEED_INPUT, END -> {
                    return;
                }
            }
        }
    }

    @Override
    public void finish() {
        if (over) {
            return;
        }
        Batch batch = new Batch(0);
        try {
            decoder.finish();
            drain(batch);
        } catch (MultipartException e) {
            submit(batch);
            refuse(ErrorAnswer.of(e));
            return;
        } catch (Throwable e) {
            batch.release();
            throw e;
        }
        submit(batch);
        if (over) {
            return;
        }
        over = true;
        long bodySize = decoder.offset();
        List<ReportedDeviation> deviations = decoder.deviations();
        decoder.close();
        onWorker(() -> complete(bodySize, deviations));
    }

    private void complete(long bodySize, List<ReportedDeviation> deviations) throws IOException {
        if (discarding) {
            sink.close();
            return;
        }
        try (sink) {
            Object answer = sink.finish(bodySize, deviations);
            onLoop(() -> end(null, answer));
        }
    }

    @Override
    public void refuse(ErrorAnswer error) {
        if (over) {
            return;
        }
        over = true;
        List<ReportedDeviation> deviations = decoder.deviations();
        decoder.close();
        onWorker(() -> {
            if (!discarding) {
                Object answer = sink.refuse(error, deviations);
                sink.close();
                onLoop(() -> end(error, answer));
            }
        });
    }

    @Override
    public int partIndex() {
        return decoder.partIndex();
    }

    private void end(@Nullable ErrorAnswer error, Object answer) {
        if (!aborted && !told) {
            told = true;
            listener.ended(error, answer);
        }
    }

    @Override
    public void abort() {
        aborted = true;
        over = true;
        discarding = true;
        decoder.close();
        onWorker(sink::close);
    }

    /** What the worker does. */
    private interface WorkerTask {
        void run() throws IOException;
    }

    /**
     * Has the worker do something, whatever that throws: a throwable that reached the worker itself would end its
     * thread, and with it all uploads that it works for. {@return whether it will be done}
     */
    private boolean onWorker(WorkerTask task) {
        try {
            worker.execute(() -> {
                try {
                    task.run();
                } catch (Throwable e) {
                    sinkFailed(e);
                }
            });
            return true;
        } catch (RejectedExecutionException e) {
            discarding = true;
            // What the worker has begun may still run: the sink is closed after it.
            worker.terminationFuture().addListener(terminated -> closeSink());
            LOG.debug("the worker of an upload is gone", e);
            failed(ErrorAnswer.storage());
            return false;
        }
    }

    /** On the worker: the disk is full, or the like. */
    private void sinkFailed(Throwable cause) {
        discarding = true;
        closeSink();
        if (cause instanceof DiskFullException) {
            LOG.warn("an upload was refused: {}", cause.getMessage());
            failed(ErrorAnswer.diskFull());
        } else {
            LOG.error("an upload could not be stored", cause);
            failed(ErrorAnswer.storage());
        }
    }

    private void closeSink() {
        try {
            sink.close();
        } catch (Throwable e) {
            LOG.error("what was stored of an upload could not be deleted", e);
        }
    }

    private void failed(ErrorAnswer error) {
        onLoop(() -> {
            over = true;
            decoder.close();
            end(error, error.asAnswer());
        });
    }

    private void submit(Batch batch) {
        if (batch.isEmpty()) {
            return;
        }
        metrics.inFlight(batch.size);
        if (!onWorker(batch::replay)) {
            metrics.inFlight(-batch.size);
            batch.release();
            over = true;
            return;
        }
        inFlightBytes += batch.size;
        inFlightBatches++;
    }

    private void done(Batch batch) {
        inFlightBytes -= batch.size;
        inFlightBatches--;
        // Half-way down, not at the brim: one wake-up per many chunks.
        if (paused && inFlightBytes <= MAX_IN_FLIGHT_BYTES / 2 && inFlightBatches <= MAX_IN_FLIGHT_BATCHES / 2) {
            paused = false;
            if (!aborted) {
                listener.ready();
            }
        }
    }

    private void onLoop(Runnable task) {
        try {
            loop.execute(task);
        } catch (RejectedExecutionException e) {
            LOG.debug("the server is closing: nobody waits for this any more", e);
        }
    }

    /** The events of one chunk, to be replayed on the worker. Owns the data in it until then. */
    private final class Batch {
        private static final Object END = new Object();

        private final List<Object> events = new ArrayList<>(4);
        private final int size;

        Batch(int size) {
            this.size = size;
        }

        void begin(PartHead head) {
            events.add(head);
        }

        void data(ByteBuf data) {
            events.add(data);
        }

        void end() {
            events.add(END);
        }

        boolean isEmpty() {
            return events.isEmpty();
        }

        void replay() throws IOException {
            try {
                for (int i = 0; i < events.size() && !discarding; i++) {
                    replay(events.get(i));
                }
            } finally {
                release();
                metrics.inFlight(-size);
                onLoop(() -> done(this));
            }
        }

        private void replay(Object event) throws IOException {
            if (event instanceof PartHead head) {
                sink.begin(head);
            } else if (event instanceof ByteBuf data) {
                sink.data(data);
            } else {
                sink.end();
            }
        }

        void release() {
            for (Object event : events) {
                if (event instanceof ByteBuf data) {
                    data.release();
                }
            }
            events.clear();
        }
    }
}

package dev.sluice.samples.upload;

import dev.sluice.bench.endtoend.Counted;
import dev.sluice.bench.peer.Tally;
import dev.sluice.bench.peer.bytebuf.Decoding;
import dev.sluice.samples.report.ErrorAnswer;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.EventExecutor;
import java.io.IOException;
import java.io.UncheckedIOException;

/** A decoder on the event loop, its content dropped as soon as it is decoded. */
final class DecodingReceiver implements BodyReceiver {

    private final Tally tally;
    private final Decoding decoding;
    private final EventExecutor loop;
    private final Listener listener;
    private boolean over;

    DecodingReceiver(Decoding decoding, Tally tally, EventExecutor loop, Listener listener) {
        this.decoding = decoding;
        this.tally = tally;
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
        try {
            decoding.offer(chunk);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void finish() {
        over = true;
        try (decoding) {
            decoding.finish();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        loop.execute(() -> listener.ended(null, Counted.of(tally.asTruth())));
    }

    @Override
    public void refuse(ErrorAnswer error) {
        over = true;
        decoding.close();
        loop.execute(() -> listener.ended(error, error.asAnswer()));
    }

    @Override
    public int partIndex() {
        return -1;
    }

    @Override
    public void abort() {
        if (!over) {
            over = true;
            decoding.close();
        }
    }
}

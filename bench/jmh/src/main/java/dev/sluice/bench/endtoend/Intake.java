package dev.sluice.bench.endtoend;

import dev.sluice.Boundary;
import dev.sluice.MultipartException;
import dev.sluice.MultipartOptions;
import dev.sluice.bench.peer.Tally;
import dev.sluice.bench.peer.bytebuf.ByteBufPeer;
import dev.sluice.bench.peer.bytebuf.Decoding;
import dev.sluice.bench.peer.bytebuf.NettyDecoding;
import dev.sluice.bench.peer.bytebuf.SluiceDecoding;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** What the measured server does with the body of a request, chunk by chunk on the event loop. */
final class Intake {
    private Intake() {}

    /**
     * Starts on a body.
     *
     * @param worker does what it is given on another thread, in order
     */
    static Decoding of(Variant variant, String contentType, Tally tally, Consumer<Runnable> worker)
            throws MultipartException {
        return switch (variant) {
            case SLUICE -> new ToWorker(Boundary.from(contentType), tally, worker);
            case SLUICE_LOOP -> new SluiceDecoding(Boundary.from(contentType), MultipartOptions.defaults(), tally);
            case NETTY42_LOOP -> new NettyDecoding(contentType, tally, false);
            case NETTY42 -> new OnWorker(new NettyDecoding(contentType, tally, false), worker);
            case HANDED_OVER -> chunk -> worker.accept(() -> ByteBufPeer.drop(tally, chunk));
            case DISCARD, HANDLER, HANDLER_LOOP -> chunk -> ByteBufPeer.drop(tally, chunk);
        };
    }

    /** Decodes on the worker. A body that it cannot read has to end the connection by itself. */
    private record OnWorker(NettyDecoding decoding, Consumer<Runnable> worker) implements Decoding {
        @Override
        public void offer(ByteBuf chunk) {
            worker.accept(() -> decoding.offer(chunk));
        }

        @Override
        public void finish() {
            worker.accept(() -> {
                try {
                    decoding.finish();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }

        @Override
        public void close() {
            worker.accept(decoding::close);
        }
    }

    /** Decodes on the event loop, and gives what the decoder found in a chunk to the worker, which may block. */
    private static final class ToWorker extends SluiceDecoding {
        private final Consumer<Runnable> worker;
        private List<Runnable> found = List.of();

        ToWorker(Boundary boundary, Tally tally, Consumer<Runnable> worker) {
            super(boundary, MultipartOptions.defaults(), tally);
            this.worker = worker;
        }

        @Override
        protected void drain() throws MultipartException {
            List<Runnable> ofChunk = new ArrayList<>();
            found = ofChunk;
            try {
                super.drain();
            } finally {
                worker.accept(() -> ofChunk.forEach(Runnable::run));
            }
        }

        @Override
        protected void data(ByteBuf content) {
            ByteBuf kept = content.retain();
            found.add(() -> {
                super.data(kept);
                kept.release();
            });
        }

        @Override
        protected void endPart(@Nullable String name, @Nullable String filename) {
            found.add(() -> super.endPart(name, filename));
        }
    }
}

package dev.sluice.bench.endtoend;

import dev.sluice.Boundary;
import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartException;
import dev.sluice.MultipartOptions;
import dev.sluice.bench.peer.Tally;
import dev.sluice.bench.peer.bytebuf.ByteBufChunks;
import dev.sluice.bench.peer.bytebuf.ByteBufPeer;
import dev.sluice.bench.peer.bytebuf.Decoding;
import dev.sluice.bench.peer.bytebuf.NettyDecoding;
import dev.sluice.bench.peer.bytebuf.SluiceDecoding;
import io.netty.buffer.ByteBuf;
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
        MultipartOptions options = MultipartOptions.defaults();
        return switch (variant) {
            case SLUICE -> new ToWorker(MultipartDecoder.create(Boundary.from(contentType), options), tally, worker);
            case SLUICE_LOOP -> new SluiceDecoding(Boundary.from(contentType), options, tally);
            case NETTY42_LOOP -> new NettyDecoding(contentType, tally, false);
            case HANDED_OVER -> new HandedOver(tally, worker);
            case DISCARD -> new ByteBufPeer.Dropping(tally);
        };
    }

    /** What going to another thread costs: each chunk is released there, without decoding. */
    private record HandedOver(Tally tally, Consumer<Runnable> worker) implements Decoding {
        @Override
        public void offer(ByteBuf chunk) {
            worker.accept(() -> {
                tally.count(chunk.readableBytes());
                chunk.release();
            });
        }

        @Override
        public void finish() {}

        @Override
        public void close() {}
    }

    /** Decodes on the event loop, and gives what the decoder found in a chunk to the worker, which may block. */
    private static final class ToWorker implements Decoding {
        private final MultipartDecoder decoder;
        private final Tally tally;
        private final Consumer<Runnable> worker;
        private @Nullable String name;
        private @Nullable String filename;

        ToWorker(MultipartDecoder decoder, Tally tally, Consumer<Runnable> worker) {
            this.decoder = decoder;
            this.tally = tally;
            this.worker = worker;
        }

        @Override
        public void offer(ByteBuf chunk) throws MultipartException {
            decoder.feed(chunk);
            drain();
        }

        @Override
        public void finish() throws MultipartException {
            decoder.finish();
            drain();
        }

        private void drain() throws MultipartException {
            List<Runnable> found = new ArrayList<>();
            try {
                while (take(decoder.next(), found)) {
                    // until the chunk is used up
                }
            } finally {
                worker.accept(() -> found.forEach(Runnable::run));
            }
        }

        private boolean take(MultipartDecoder.Event event, List<Runnable> found) throws MultipartException {
            switch (event) {
                case PART_BEGIN -> {
                    name = decoder.name();
                    filename = decoder.filename();
                }
                case DATA -> {
                    ByteBuf data = decoder.data().retain();
                    found.add(() -> {
                        ByteBufChunks.tell(tally, data);
                        data.release();
                    });
                }
                case PART_END -> {
                    String itsName = name;
                    String itsFilename = filename;
                    found.add(() -> tally.endPart(itsName, itsFilename));
                }
                case NEED_INPUT, END -> {
                    return false;
                }
            }
            return true;
        }

        @Override
        public void close() {
            decoder.close();
        }
    }
}

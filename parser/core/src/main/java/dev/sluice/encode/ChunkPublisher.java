package dev.sluice.encode;

import dev.sluice.BodyChunks;
import io.netty.buffer.ByteBuf;
import java.net.http.HttpRequest;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A publisher of the chunks of a body, which are read on the thread that requests them. Each subscription writes the body from the start.
 * The garbage collector frees the chunks, because a subscriber does not release them.
 */
public final class ChunkPublisher implements HttpRequest.BodyPublisher {
    private final long contentLength;
    private final Supplier<BodyChunks> body;

    /**
     * @param contentLength the number of bytes; less than 0 if it is unknown
     * @param body a function that starts to write the body and returns its chunks
     */
    public ChunkPublisher(long contentLength, Supplier<BodyChunks> body) {
        this.contentLength = contentLength;
        this.body = body;
    }

    @Override
    public long contentLength() {
        return contentLength;
    }

    @Override
    public void subscribe(Flow.Subscriber<? super ByteBuffer> subscriber) {
        subscriber.onSubscribe(new Subscription(Objects.requireNonNull(subscriber)));
    }

    private final class Subscription implements Flow.Subscription {
        private final Flow.Subscriber<? super ByteBuffer> subscriber;
        /**
         * The number of chunks that were requested and not yet delivered. The thread that raises the number from 0 delivers the chunks.
         * After the last signal, the number stays above 0, so no thread delivers again.
         */
        private final AtomicLong demand = new AtomicLong();

        private volatile boolean cancelled;
        private volatile boolean illegal;
        private @Nullable BodyChunks chunks;

        Subscription(Flow.Subscriber<? super ByteBuffer> subscriber) {
            this.subscriber = subscriber;
        }

        @Override
        public void request(long count) {
            if (count <= 0) {
                illegal = true;
            }
            add(Math.max(count, 1));
        }

        @Override
        public void cancel() {
            cancelled = true;
            add(1);
        }

        private void add(long count) {
            if (demand.getAndAccumulate(count, (a, b) -> a > Long.MAX_VALUE - b ? Long.MAX_VALUE : a + b) == 0) {
                deliver();
            }
        }

        private void deliver() {
            long wanted = demand.get();
            do {
                for (long i = 0; i < wanted; i++) {
                    if (!deliverOne()) {
                        return;
                    }
                }
                wanted = demand.addAndGet(-wanted);
            } while (wanted > 0);
        }

        /** {@return whether more signals follow} */
        private boolean deliverOne() {
            if (cancelled) {
                close();
                return false;
            }
            ByteBuf chunk;
            boolean ended;
            try {
                if (illegal) {
                    throw new IllegalArgumentException("the subscriber has requested less than one chunk");
                }
                BodyChunks open = chunks == null ? body.get() : chunks;
                chunks = open;
                chunk = Objects.requireNonNull(open.next());
                ended = open.isEnded();
            } catch (Throwable e) {
                close();
                subscriber.onError(e);
                return false;
            }
            try {
                subscriber.onNext(chunk.nioBuffer());
            } catch (Throwable e) { // cancels the subscription (Reactive Streams, rule 2.13)
                close();
                throw e;
            }
            if (ended) {
                subscriber.onComplete();
            }
            return !ended;
        }

        private void close() {
            try {
                if (chunks != null) {
                    chunks.close();
                }
            } catch (Throwable e) {
                // the subscription has been cancelled or has already failed
            }
        }
    }
}

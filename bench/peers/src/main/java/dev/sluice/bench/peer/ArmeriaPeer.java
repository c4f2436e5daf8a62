package dev.sluice.bench.peer;

import com.linecorp.armeria.common.HttpData;
import com.linecorp.armeria.common.multipart.BodyPart;
import com.linecorp.armeria.common.multipart.Multipart;
import com.linecorp.armeria.common.stream.StreamMessage;
import com.linecorp.armeria.common.stream.SubscriptionOption;
import dev.sluice.bench.peer.bytebuf.ByteBufChunks;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/**
 * Armeria's reactive decoder. It receives Netty buffers, as in Armeria's server. The subscription is on the calling thread, with
 * unlimited demand and for pooled objects, so that content is not copied to arrays.
 */
final class ArmeriaPeer implements Peer {
    private final Body body;
    private final ByteBufChunks chunks;

    ArmeriaPeer(Body body, int chunkSize, Memory memory) {
        this.body = body;
        this.chunks = new ByteBufChunks(body.cut(chunkSize), memory);
    }

    @Override
    public void run(Tally tally) throws IOException {
        HttpData[] data = new HttpData[chunks.count()];
        for (int i = 0; i < data.length; i++) {
            data[i] = HttpData.wrap(chunks.next(i));
        }
        Parts parts = new Parts(tally);
        Multipart.from(body.boundary(), StreamMessage.of(data))
                .bodyParts()
                .subscribe(parts, ImmediateEventExecutor.INSTANCE, SubscriptionOption.WITH_POOLED_OBJECTS);
        if (parts.failure != null || !parts.complete) {
            throw new IOException("The body did not complete", parts.failure);
        }
    }

    @Override
    public void close() {
        chunks.close();
    }

    private static final class Parts implements Subscriber<BodyPart> {
        private final Tally tally;
        private @Nullable Throwable failure;
        private boolean complete;

        Parts(Tally tally) {
            this.tally = tally;
        }

        @Override
        public void onSubscribe(Subscription subscription) {
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(BodyPart part) {
            part.content()
                    .subscribe(
                            new Content(this, part),
                            ImmediateEventExecutor.INSTANCE,
                            SubscriptionOption.WITH_POOLED_OBJECTS);
        }

        @Override
        public void onError(Throwable cause) {
            failure = cause;
        }

        @Override
        public void onComplete() {
            complete = true;
        }
    }

    private record Content(Parts parts, BodyPart part) implements Subscriber<HttpData> {
        @Override
        public void onSubscribe(Subscription subscription) {
            subscription.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(HttpData data) {
            try (data) {
                if (parts.tally.checks()) {
                    ByteBufChunks.add(parts.tally, data.byteBuf());
                } else {
                    parts.tally.count(data.length());
                }
            }
        }

        @Override
        public void onError(Throwable cause) {
            parts.failure = cause;
        }

        @Override
        public void onComplete() {
            if (parts.tally.records()) {
                parts.tally.endPart(part.name(), part.filename());
            } else {
                parts.tally.endPart();
            }
        }
    }
}

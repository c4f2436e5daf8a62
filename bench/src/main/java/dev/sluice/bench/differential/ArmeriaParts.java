package dev.sluice.bench.differential;

import com.linecorp.armeria.common.HttpData;
import com.linecorp.armeria.common.multipart.BodyPart;
import com.linecorp.armeria.common.multipart.Multipart;
import com.linecorp.armeria.common.stream.StreamMessage;
import dev.sluice.bench.body.Body;
import dev.sluice.bench.body.Slice;
import dev.sluice.bench.peer.Peer;
import dev.sluice.bench.peer.Tally;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/** Armeria's reactive decoder on the calling thread, with the names it reads. */
final class ArmeriaParts implements Peer {

    private final Body body;

    ArmeriaParts(Body body) {
        this.body = body;
    }

    @Override
    public void run(Tally tally) throws IOException {
        List<Slice> slices = body.cut(0);
        HttpData[] chunks = slices.stream()
                .map(slice -> HttpData.wrap(
                        Arrays.copyOfRange(slice.array(), slice.offset(), slice.offset() + slice.length())))
                .toArray(HttpData[]::new);
        Parts parts = new Parts(tally);
        Multipart.from(body.boundary(), StreamMessage.of(chunks))
                .bodyParts()
                .subscribe(parts, ImmediateEventExecutor.INSTANCE);
        if (parts.failure != null || !parts.complete) {
            throw new IOException("not complete", parts.failure);
        }
    }

    @Override
    public void close() {}

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
            part.content().subscribe(new Content(this, part), ImmediateEventExecutor.INSTANCE);
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
            parts.tally.data(data.array(), 0, data.length());
        }

        @Override
        public void onError(Throwable cause) {
            parts.failure = cause;
        }

        @Override
        public void onComplete() {
            parts.tally.endPart(part.name(), part.filename());
        }
    }
}

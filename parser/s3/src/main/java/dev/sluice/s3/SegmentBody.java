package dev.sluice.s3;

import java.nio.ByteBuffer;
import java.util.Optional;
import org.reactivestreams.FlowAdapters;
import org.reactivestreams.Subscriber;
import software.amazon.awssdk.core.async.AsyncRequestBody;

/** A segment as the body of a request of the SDK. */
record SegmentBody(Segment segment) implements AsyncRequestBody {
    @Override
    public Optional<Long> contentLength() {
        return Optional.of(segment.size());
    }

    @Override
    public void subscribe(Subscriber<? super ByteBuffer> subscriber) {
        segment.subscribe(FlowAdapters.toFlowSubscriber(subscriber));
    }
}

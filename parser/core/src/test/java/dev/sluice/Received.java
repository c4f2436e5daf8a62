package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/** A subscriber that records a body and its end. By default, it requests one more after each chunk, unless it has requested all. */
public final class Received<T> implements Flow.Subscriber<T> {
    public final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    public final List<Integer> sizes = new ArrayList<>();
    public Flow.@Nullable Subscription subscription;
    public @Nullable Throwable failure;
    public int completions;
    public Runnable onChunk;
    private final long first;

    /** @param first the number of chunks that are requested at the start; 0 for no request */
    public Received(long first) {
        this.first = first;
        onChunk = first == Long.MAX_VALUE ? () -> {} : () -> subscription.request(1);
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
        subscription = given;
        if (first > 0) {
            given.request(first);
        }
    }

    @Override
    public void onNext(T chunk) {
        assertEquals(0, completions);
        byte[] copy;
        if (chunk instanceof ByteBuf buffer) {
            copy = ByteBufUtil.getBytes(buffer);
            buffer.release();
        } else {
            copy = new byte[((ByteBuffer) chunk).remaining()];
            ((ByteBuffer) chunk).get(copy);
        }
        sizes.add(copy.length);
        bytes.writeBytes(copy);
        onChunk.run();
    }

    @Override
    public void onError(Throwable reason) {
        assertNull(failure);
        failure = reason;
    }

    @Override
    public void onComplete() {
        completions++;
    }
}

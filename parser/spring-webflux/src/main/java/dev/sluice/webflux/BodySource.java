package dev.sluice.webflux;

import dev.sluice.form.FormHead;
import dev.sluice.form.FormOptions;
import dev.sluice.form.FormSubscriber;
import dev.sluice.form.Forms;
import dev.sluice.form.MultipartForm;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.net.InetSocketAddress;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.core.io.buffer.DefaultDataBuffer;
import org.springframework.core.io.buffer.NettyDataBuffer;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ReactiveHttpInputMessage;
import org.springframework.http.server.reactive.ServerHttpRequest;
import reactor.adapter.JdkFlowAdapter;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/** The body of a request, connected to a {@link FormSubscriber}. */
final class BodySource implements Disposable {
    private final Flux<ByteBuf> body;
    private final FormSubscriber subscriber;
    private final CompletableFuture<MultipartForm> form;

    /** @param executor the executor for decoding, files and sinks */
    BodySource(
            Forms forms,
            FormOptions options,
            ReactiveHttpInputMessage message,
            Executor executor,
            ContextView context) {
        HttpHeaders headers = message.getHeaders();
        FormHead head = FormHead.of(
                name -> HeaderFields.all(headers, name),
                message instanceof ServerHttpRequest request ? address(request.getRemoteAddress()) : null);
        Context releasing = releasingDiscarded(Context.of(context));
        this.body = message.getBody().map(BodySource::bytes).contextWrite(none -> releasing);
        this.subscriber = FormSubscriber.of(forms, options, head, executor, Schedulers.parallel()::schedule);
        this.form = subscriber.completion().toCompletableFuture();
    }

    private static @Nullable String address(@Nullable InetSocketAddress remote) {
        if (remote == null) {
            return null;
        }
        return remote.isUnresolved() // by Spring, if a proxy has forwarded the address
                ? remote.getHostString()
                : remote.getAddress().getHostAddress();
    }

    /**
     * Returns a context that releases the buffers that upstream operators discard when they are cancelled or fail. Its
     * hook replaces the downstream hook for buffers, because Spring's writers install one that would release the same
     * buffer again.
     */
    private static Context releasingDiscarded(Context downstream) {
        return Operators.enableOnDiscard(downstream, discarded -> {
            if (discarded instanceof DataBuffer buffer) {
                DataBufferUtils.release(buffer);
            } else {
                Operators.onDiscard(discarded, downstream);
            }
        });
    }

    /**
     * {@return the bytes of {@code buffer}, which is <em>transferred</em>. The bytes of Netty buffers and of {@link
     * DefaultDataBuffer}s are shared, and the bytes of all others are copied}
     */
    private static ByteBuf bytes(DataBuffer buffer) {
        if (buffer instanceof NettyDataBuffer netty) {
            return netty.getNativeBuffer();
        } else if (buffer instanceof DefaultDataBuffer heap) {
            return Unpooled.wrappedBuffer(heap.getNativeBuffer());
        }
        byte[] copy = new byte[buffer.readableByteCount()];
        buffer.read(copy);
        DataBufferUtils.release(buffer);
        return Unpooled.wrappedBuffer(copy);
    }

    /**
     * Starts to receive the form. Exactly one of {@code received} and {@code failed} is called. {@code failed} is called
     * after the rest of a rejected body was discarded, or when this source is disposed.
     */
    void start(Consumer<MultipartForm> received, Consumer<Throwable> failed) {
        form.whenComplete((complete, failure) -> {
            if (complete != null) {
                received.accept(complete);
            } else {
                failed.accept(failure);
            }
        });
        if (!form.isDone()) {
            JdkFlowAdapter.publisherToFlowPublisher(body).subscribe(subscriber);
        }
    }

    /** Ends the form if it has not ended. May be called repeatedly and from any thread. */
    @Override
    public void dispose() {
        if (!form.isDone()) {
            form.completeExceptionally(new CancellationException("the request was cancelled or has ended"));
        }
    }
}

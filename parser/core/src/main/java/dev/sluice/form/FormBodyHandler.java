package dev.sluice.form;

import io.netty.buffer.Unpooled;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;

/**
 * A handler that decodes a response of type {@code multipart/form-data} for the {@code java.net.http} client, while it arrives.
 *
 * {@snippet file="SendForm.java" region="receive"}
 *
 * <p>The form belongs to the receiver of the response, who must close it. A slow sink slows the server down. If the response is
 * malformed, exceeds a limit, or has another type, the request fails. {@code HttpClient.send} then throws an {@link java.io.IOException}
 * whose cause is a {@link dev.sluice.MultipartException}. Read responses of other multipart types with a {@link
 * dev.sluice.MultipartReader} on {@link java.net.http.HttpResponse.BodyHandlers#ofInputStream()}.
 *
 * <p>Thread-safe.
 */
public final class FormBodyHandler implements HttpResponse.BodyHandler<MultipartForm> {
    private final Forms forms;
    private final FormOptions options;
    private final Executor executor;

    private FormBodyHandler(Forms forms, FormOptions options, Executor executor) {
        this.forms = Objects.requireNonNull(forms, "forms");
        this.options = Objects.requireNonNull(options, "options");
        this.executor = Objects.requireNonNull(executor, "executor");
    }

    /**
     * {@return a handler of responses}
     *
     * @param options {@code forms.options()}, or options derived from them with {@link FormOptions#toBuilder()}
     * @param executor the executor on which the forms are decoded, stored and passed to sinks. These tasks block if a
     *     sink or a file operation blocks
     */
    public static FormBodyHandler of(Forms forms, FormOptions options, Executor executor) {
        return new FormBodyHandler(forms, options, executor);
    }

    @Override
    public HttpResponse.BodySubscriber<MultipartForm> apply(HttpResponse.ResponseInfo response) {
        FormHead head = FormHead.of(response.headers()::allValues, null);
        return new Body(FormSubscriber.of(forms, options, head, executor));
    }

    private record Body(FormSubscriber form) implements HttpResponse.BodySubscriber<MultipartForm> {
        @Override
        public CompletionStage<MultipartForm> getBody() {
            return form.completion();
        }

        @Override
        public void onSubscribe(Flow.Subscription subscription) {
            form.onSubscribe(subscription);
        }

        @Override
        public void onNext(List<ByteBuffer> bytes) {
            form.onNext(Unpooled.wrappedBuffer(bytes.toArray(ByteBuffer[]::new)));
        }

        @Override
        public void onError(Throwable reason) {
            form.onError(reason);
        }

        @Override
        public void onComplete() {
            form.onComplete();
        }
    }
}

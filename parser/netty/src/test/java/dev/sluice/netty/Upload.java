package dev.sluice.netty;

import dev.sluice.form.FormOptions;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartDecision;
import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import dev.sluice.testkit.Eventually;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** A receiver that records its calls. All parts go to one sink, which a test can pause. */
final class Upload implements FormReceiver, PartSink {
    static final String TYPE = "multipart/form-data; boundary=x";

    final AtomicLong bytes = new AtomicLong();
    final AtomicReference<Readiness> gate = new AtomicReference<>(Readiness.READY);
    final CompletableFuture<Void> optionsCalled = new CompletableFuture<>();
    final CompletableFuture<Throwable> failure = new CompletableFuture<>();
    final CompletableFuture<HttpHeaders> trailers = new CompletableFuture<>();
    UnaryOperator<FormOptions.Builder> change = options -> options;

    @Nullable
    CompletableFuture<FullHttpResponse> response;

    volatile @Nullable Thread thread;
    volatile int published;
    volatile int closed;

    /** {@return a form with one file of {@code size} bytes} */
    static byte[] body(int size) {
        byte[] content = new byte[size];
        new Random(size).nextBytes(content);
        ByteBuf body = Unpooled.buffer();
        body.writeCharSequence(
                "--x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\n\r\n", StandardCharsets.US_ASCII);
        body.writeBytes(content);
        body.writeCharSequence("\r\n--x--\r\n", StandardCharsets.US_ASCII);
        byte[] bytes = new byte[body.readableBytes()];
        body.readBytes(bytes).release();
        return bytes;
    }

    static FullHttpResponse text(int status, String text) {
        return new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1,
                HttpResponseStatus.valueOf(status),
                Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII));
    }

    Upload shut() {
        gate.set(Readiness.pending());
        return this;
    }

    /** {@return the number of received bytes, once it is greater than {@code before}} */
    long awaitMoreThan(long before) {
        Eventually.isTrue(
                () -> bytes.get() > before,
                () -> "no more than " + before + " bytes were received: " + failure.getNow(null));
        return bytes.get();
    }

    /** Resumes the sink for one write. */
    void openForOne() {
        gate.getAndSet(Readiness.pending()).ready();
    }

    void open() {
        gate.getAndSet(Readiness.READY).ready();
    }

    @Override
    public FormOptions options(FormOptions defaults) {
        optionsCalled.complete(null);
        return change.apply(defaults.toBuilder().decider(part -> PartDecision.to(this)))
                .build();
    }

    @Override
    public CompletionStage<FullHttpResponse> received(MultipartForm form, HttpHeaders fields) {
        trailers.complete(fields);
        CompletableFuture<FullHttpResponse> later = response;
        return later != null ? later : CompletableFuture.completedStage(text(200, "bytes: " + bytes));
    }

    @Override
    public FullHttpResponse failed(Throwable cause) {
        failure.complete(cause);
        return FormReceiver.super.failed(cause);
    }

    @Override
    public Readiness write(ByteBuf data) {
        Readiness now = gate.get(); // before the count: a test that sees it may replace the gate
        thread = Thread.currentThread();
        bytes.addAndGet(data.readableBytes());
        return now;
    }

    @Override
    public Readiness complete() {
        return gate.get();
    }

    @Override
    public Readiness publish() {
        published++;
        return Readiness.READY;
    }

    @Override
    public void close() {
        closed++;
    }
}

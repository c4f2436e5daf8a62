package dev.sluice.samples.s3.readme;

// @start region="netty"
import dev.sluice.form.FormOptions;
import dev.sluice.form.MultipartForm;
import dev.sluice.netty.FormReceiver;
import dev.sluice.s3.S3Form;
import dev.sluice.s3.S3Sinks;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

final class S3Receiver implements FormReceiver {
    private final S3Form stored; // the receiver is for one request

    S3Receiver(S3Sinks sinks) {
        this.stored = sinks.newForm();
    }

    @Override
    public FormOptions options(FormOptions defaults) {
        return stored.options(defaults);
    }

    @Override
    public CompletionStage<FullHttpResponse> received(MultipartForm form, HttpHeaders trailers) throws IOException {
        String answer = form.text("title") + ": form " + stored.id();
        FullHttpResponse response = new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1,
                HttpResponseStatus.OK,
                ByteBufUtil.writeUtf8(UnpooledByteBufAllocator.DEFAULT, answer));
        response.headers().set("Content-Type", "text/plain; charset=UTF-8"); // not HTML, because it contains a field
        return CompletableFuture.completedStage(response);
    }
}
// @end

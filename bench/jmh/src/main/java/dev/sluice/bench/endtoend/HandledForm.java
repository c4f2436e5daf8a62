package dev.sluice.bench.endtoend;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.PartHead;
import dev.sluice.bench.peer.Tally;
import dev.sluice.bench.peer.bytebuf.ByteBufChunks;
import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartDecision;
import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import dev.sluice.netty.FormReceiver;
import dev.sluice.netty.FormRoute;
import dev.sluice.netty.MultipartHandlers;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.LongAdder;

/**
 * The form of one request, taken by Sluice's handler for Netty: each part goes to a sink that tells it to the tally.
 *
 * @param size of the body, as the request says
 * @param received counts the bytes of all bodies
 */
record HandledForm(long size, Tally tally, LongAdder received) implements FormReceiver {
    private static final ObjectMapper JSON = new ObjectMapper();

    static MultipartHandlers handlers(Variant variant, Executor workers, LongAdder received) {
        Forms forms = Forms.of(FormOptions.inMemory(MemoryBudget.of(64 << 20))
                .unlimitedBodyBytes()
                .unlimitedPartBytes()
                .build());
        FormRoute route = request ->
                new HandledForm(HttpUtil.getContentLength(request, 0L), MeasuredServer.tally(request), received);
        return variant.usesWorker()
                ? MultipartHandlers.builder(forms, route, workers).build()
                : MultipartHandlers.onEventLoop(forms, route).build();
    }

    @Override
    public FormOptions options(FormOptions defaults) {
        return defaults.toBuilder()
                .decider(part -> PartDecision.to(new Told(part, tally)))
                .build();
    }

    @Override
    public CompletionStage<FullHttpResponse> received(MultipartForm form, HttpHeaders trailers) throws IOException {
        received.add(size);
        ByteBuf body = Unpooled.wrappedBuffer(JSON.writeValueAsBytes(tally.asTruth()));
        return CompletableFuture.completedStage(
                new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, body));
    }

    private record Told(PartHead part, Tally tally) implements PartSink {
        @Override
        public Readiness write(ByteBuf data) {
            ByteBufChunks.tell(tally, data);
            return Readiness.READY;
        }

        @Override
        public Readiness complete() {
            tally.endPart(part.name(), part.filename());
            return Readiness.READY;
        }

        @Override
        public Readiness publish() {
            return Readiness.READY;
        }

        @Override
        public void close() {
            // keeps nothing
        }
    }
}

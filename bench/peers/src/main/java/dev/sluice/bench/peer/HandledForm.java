package dev.sluice.bench.peer;

import dev.sluice.PartHead;
import dev.sluice.bench.peer.bytebuf.ByteBufChunks;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartDecision;
import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import dev.sluice.netty.FormReceiver;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A form that Sluice's handler for Netty receives. Each part goes to a sink that adds it to the tally.
 *
 * @param content creates the content of the response when the form is complete
 */
public record HandledForm(Tally tally, Callable<ByteBuf> content) implements FormReceiver {
    @Override
    public FormOptions options(FormOptions defaults) {
        return defaults.toBuilder()
                .decider(part -> PartDecision.to(new TallySink(part, tally)))
                .build();
    }

    @Override
    public CompletionStage<FullHttpResponse> received(MultipartForm form, HttpHeaders trailers) throws Exception {
        return CompletableFuture.completedStage(
                new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, content.call()));
    }

    private record TallySink(PartHead part, Tally tally) implements PartSink {
        @Override
        public Readiness write(ByteBuf data) {
            ByteBufChunks.add(tally, data);
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
            // nothing to release
        }
    }
}

package dev.sluice.samples.upload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.samples.report.Page;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.concurrent.DefaultEventExecutorGroup;
import io.netty.util.concurrent.EventExecutorGroup;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A connection whose handling fails. */
@Timeout(20)
class ConnectionHandlerTest {
    @TempDir
    Path path;

    @Test
    void aFaultOfTheServerBeforeTheAnswerIsAnsweredInJsonAndOneAfterItIsNot() throws Exception {
        MemoryBudget memory = MemoryBudget.of(1 << 20);
        EventExecutorGroup workers = new DefaultEventExecutorGroup(1);
        ServerMetrics metrics = new ServerMetrics(PooledByteBufAllocator.DEFAULT, memory);
        try (SpoolDirectory spool = SpoolDirectory.open(path)) {
            EmbeddedChannel channel = new EmbeddedChannel(new ConnectionHandler(new ConnectionHandler.Services(
                    ServerConfig.of(path),
                    Forms.of(FormOptions.builder(spool, memory).build()),
                    new ReceivedParts.Store(spool, path),
                    metrics,
                    workers,
                    Page.load(UploadServer.class))));
            HttpRequest request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, "/upload");
            request.headers()
                    .set(HttpHeaderNames.HOST, "x")
                    .set(HttpHeaderNames.CONTENT_TYPE, TestForm.CONTENT_TYPE)
                    .set(HttpHeaderNames.CONTENT_LENGTH, 1000);
            channel.writeInbound(request);
            channel.pipeline().fireExceptionCaught(new IllegalStateException("on purpose"));

            FullHttpResponse answer = channel.readOutbound();
            assertNotNull(answer);
            assertEquals(500, answer.status().code());
            String body = answer.content().toString(StandardCharsets.UTF_8);
            assertTrue(body.contains("INTERNAL_ERROR"), body);
            answer.release();
            assertTrue(metrics.scrape().contains("sluice_uploads_total{outcome=\"failed\",route=\"upload\"} 1.0"));

            channel.pipeline().fireExceptionCaught(new IllegalStateException("once more"));
            assertNull(channel.readOutbound());
            assertFalse(channel.isOpen());
        } finally {
            workers.shutdownGracefully(0, 10, TimeUnit.SECONDS).sync();
            metrics.close();
        }
    }
}

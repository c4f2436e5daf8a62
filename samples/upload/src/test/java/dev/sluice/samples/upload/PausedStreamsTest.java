package dev.sluice.samples.upload;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartDecision;
import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import dev.sluice.netty.FormReceiver;
import dev.sluice.netty.MultipartHandlers;
import dev.sluice.samples.netty.Protocols;
import dev.sluice.testkit.Eventually;
import dev.sluice.testkit.TestForm;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2FrameCodec;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An HTTP/2 connection from java.net.http whose streams wait for their sinks. */
@Timeout(300)
class PausedStreamsTest {
    /** The number of paused streams, one less than the server allows. */
    private static final int PAUSED = 99;

    /** A form that is larger than the buffer of a paused sink and a flow-control window together. */
    private static final byte[] BODY =
            new TestForm().file("f", "f", new byte[300_000]).body();

    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    private final ExecutorService workers = Executors.newFixedThreadPool(2);
    private final BlockingQueue<Channel> accepted = new LinkedBlockingQueue<>();
    /** The paused sinks, one for each form. */
    private final BlockingQueue<Readiness> pausedSinks = new LinkedBlockingQueue<>();

    private URI server;

    /** A sink that accepts the first piece of a part and then pauses until it is resumed. */
    private final class PausingSink implements PartSink {
        private boolean waited;

        @Override
        public Readiness write(ByteBuf data) {
            if (waited) {
                return Readiness.READY;
            }
            waited = true;
            Readiness readiness = Readiness.pending();
            pausedSinks.add(readiness);
            return readiness;
        }

        @Override
        public Readiness complete() {
            return Readiness.READY;
        }

        @Override
        public void close() {}
    }

    private FormReceiver receiver(boolean slow) {
        return new FormReceiver() {
            @Override
            public FormOptions options(FormOptions defaults) {
                return defaults.toBuilder()
                        .decider(part -> slow ? PartDecision.to(new PausingSink()) : PartDecision.skip())
                        .build();
            }

            @Override
            public CompletionStage<FullHttpResponse> received(MultipartForm form, HttpHeaders trailers) {
                return CompletableFuture.completedStage(
                        new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK));
            }
        };
    }

    @BeforeEach
    void start() throws IOException {
        Forms forms = Forms.of(FormOptions.inMemory(MemoryBudget.of(64 << 20)).build());
        MultipartHandlers handlers = MultipartHandlers.builder(
                        forms, request -> receiver(request.uri().equals("/slow")), workers)
                .build();
        Protocols.Others none = (request, method) -> {
            throw new IllegalStateException("all requests are forms");
        };
        ChannelHandler protocols = new Protocols(handlers, none, true);
        Channel acceptor = new ServerBootstrap()
                .group(loops)
                .channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        accepted.add(channel);
                        channel.pipeline().addLast(protocols);
                    }
                })
                .bind("localhost", 0)
                .syncUninterruptibly()
                .channel();
        server = URI.create("https://localhost:" + ((InetSocketAddress) acceptor.localAddress()).getPort());
    }

    @AfterEach
    void stop() {
        pausedSinks.forEach(Readiness::ready);
        loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        workers.shutdown();
    }

    private HttpRequest form(String path) {
        return HttpRequest.newBuilder(server.resolve(path))
                .header("Content-Type", TestForm.CONTENT_TYPE)
                .timeout(Duration.ofSeconds(path.equals("/slow") ? 240 : 100))
                .POST(BodyPublishers.ofByteArray(BODY))
                .build();
    }

    /** {@return the number of streams whose windows are full} */
    private static int exhausted(Channel connection) {
        int[] count = {0};
        connection
                .eventLoop()
                .submit(() -> {
                    Http2Connection http2 =
                            connection.pipeline().get(Http2FrameCodec.class).connection();
                    http2.forEachActiveStream(stream -> {
                        count[0] += http2.local().flowController().windowSize(stream) == 0 ? 1 : 0;
                        return true;
                    });
                    return null;
                })
                .syncUninterruptibly();
        return count[0];
    }

    @Test
    void stream_continuesWhileAllOthersArePaused() throws Exception {
        HttpClient client = TlsTest.client(HttpClient.Version.HTTP_2);
        HttpResponse<Void> first = client.send(form("/first"), BodyHandlers.discarding());
        assertEquals(HttpClient.Version.HTTP_2, first.version());
        List<CompletableFuture<HttpResponse<Void>>> slow = new ArrayList<>();
        for (int i = 0; i < PAUSED; i++) {
            slow.add(client.sendAsync(form("/slow"), BodyHandlers.discarding()));
        }
        Channel connection = accepted.take();
        Eventually.isTrue(
                () -> pausedSinks.size() >= PAUSED && exhausted(connection) >= PAUSED,
                () -> "sinks: " + pausedSinks.size() + ", streams with full windows: " + exhausted(connection));

        assertEquals(200, client.send(form("/quick"), BodyHandlers.discarding()).statusCode());
        assertEquals(0, accepted.size(), "additional connections");

        pausedSinks.forEach(Readiness::ready);
        for (CompletableFuture<HttpResponse<Void>> each : slow) {
            assertEquals(200, each.get(2, TimeUnit.MINUTES).statusCode());
        }
    }
}

package dev.sluice.samples.upload.soak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.samples.upload.ServerConfig;
import dev.sluice.samples.upload.UploadServer;
import dev.sluice.testkit.ProofSize;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseDecoder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Hundreds of concurrent clients, thousands with {@code -Pfull}. The server has 512 MiB of heap and direct memory together. */
@Tag("sized")
@Timeout(300)
class ManyClientsTest {
    /** Only the long form runs long enough to benefit from the second compiler. */
    private static final List<String> OPTIONS = List.of(
            "-XX:TieredStopAtLevel=" + (Boolean.getBoolean("sluice.full") ? 4 : 1),
            "-Xmx384m",
            "-XX:MaxDirectMemorySize=128m",
            "-XX:+ExitOnOutOfMemoryError");

    /** The number of slow clients, fewer if the limit of file descriptors is too low. */
    private static final int SLOW = (int) Math.min(
            ProofSize.of("sluice.slowClients", 500, 10_000), Vitals.now(0, 0).mostDescriptors() - 500);

    private static final int SECONDS = ProofSize.of("sluice.slowSeconds", 3, 20);
    private static final int AT_ONCE = ProofSize.of("sluice.formsAtOnce", 200, 1_000);
    private static final int FILE = 100 << 10;

    /** A rate above the minimum of the server. */
    private static final int BYTES_PER_SECOND = (int) (2 * ServerConfig.MIN_BYTES_PER_SECOND);

    private static final String BOUNDARY = "many";

    @TempDir
    Path directory;

    /** Runs in the server process; its argument is a directory. */
    public static void main(String[] arguments) throws IOException {
        try (UploadServer server = UploadServer.start(ServerConfig.of(Path.of(arguments[0])))) {
            ServerProcess.answer(server.port(), () -> Vitals.now(0, 0));
        }
    }

    @Test
    void slowClients_areAllServed() throws Exception {
        byte[] value = "v".repeat(SECONDS * BYTES_PER_SECOND).getBytes(StandardCharsets.US_ASCII);
        uploaded(SLOW, part("form-data; name=\"a\"", value), SECONDS);
    }

    @Test
    void concurrentForms_areAllAccepted() throws Exception {
        uploaded(AT_ONCE, part("form-data; name=\"f\"; filename=\"f.bin\"", new byte[FILE]), 1);
    }

    private static byte[] part(String disposition, byte[] content) {
        String head = "--" + BOUNDARY + "\r\nContent-Disposition: " + disposition + "\r\n\r\n";
        byte[] delimiter = ("\r\n--" + BOUNDARY + "--\r\n").getBytes(StandardCharsets.US_ASCII);
        return Unpooled.copiedBuffer(head.getBytes(StandardCharsets.US_ASCII), content, delimiter)
                .array();
    }

    private void uploaded(int clients, byte[] body, int seconds) throws Exception {
        EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        try (ServerProcess server =
                new ServerProcess(directory.resolve("err"), ManyClientsTest.class, OPTIONS, directory)) {
            List<CompletableFuture<String>> answers = new ArrayList<>();
            List<Channel> channels = connected(loop, server.port(), clients, answers);
            byte[] head = ("POST /upload HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=" + BOUNDARY
                            + "\r\nContent-Length: " + body.length + "\r\n\r\n")
                    .getBytes(StandardCharsets.US_ASCII);
            // The first bytes already begin a part, so all forms use memory at the same time.
            byte[] request = Unpooled.copiedBuffer(head, body).array();
            long start = System.nanoTime();
            Vitals most = server.look();
            for (int second = 0; second < seconds; second++) {
                int from = (int) ((long) request.length * second / seconds);
                int to = (int) ((long) request.length * (second + 1) / seconds);
                channels.forEach(channel -> channel.writeAndFlush(Unpooled.wrappedBuffer(request, from, to - from)));
                long left = start + TimeUnit.SECONDS.toNanos(second + 1) - System.nanoTime();
                most = second == seconds - 1 ? most : server.look();
                TimeUnit.NANOSECONDS.sleep(left);
            }
            Map<String, Integer> responses = new TreeMap<>();
            for (CompletableFuture<String> response : answers) {
                responses.merge(response.get(60, TimeUnit.SECONDS), 1, Integer::sum);
            }
            double took = (System.nanoTime() - start) / 1e9;
            System.out.printf(
                    "ManyClientsTest: %d clients, %d bytes each, %.1f s; %d descriptors, %d threads, resident %d MiB: %s%n",
                    clients,
                    body.length,
                    took,
                    most.descriptors(),
                    most.threads(),
                    server.residentBytes() >> 20,
                    responses);
            assertEquals(Map.of("200", clients), responses, server::toString);
            assertTrue(seconds == 1 || most.descriptors() > clients, most::toString);
            channels.forEach(Channel::close);
            server.await("connections are still open", vitals -> vitals.descriptors() < clients);
            server.end();
        } finally {
            loop.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    private static List<Channel> connected(
            EventLoopGroup loop, int port, int clients, List<CompletableFuture<String>> answers)
            throws InterruptedException {
        Bootstrap bootstrap = new Bootstrap().group(loop).channel(NioSocketChannel.class);
        List<Channel> channels = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            CompletableFuture<String> answer = new CompletableFuture<>();
            answers.add(answer);
            channels.add(bootstrap
                    .clone()
                    .handler(new ChannelInitializer<>() {
                        @Override
                        protected void initChannel(Channel channel) {
                            channel.pipeline()
                                    .addLast(
                                            new HttpResponseDecoder(), new HttpObjectAggregator(1 << 16), read(answer));
                        }
                    })
                    .connect("127.0.0.1", port)
                    .sync()
                    .channel());
        }
        return channels;
    }

    private static SimpleChannelInboundHandler<FullHttpResponse> read(CompletableFuture<String> answer) {
        return new SimpleChannelInboundHandler<>() {
            @Override
            protected void channelRead0(ChannelHandlerContext ctx, FullHttpResponse response) {
                String status = Integer.toString(response.status().code());
                answer.complete(
                        status.equals("200") ? status : response.content().toString(StandardCharsets.UTF_8));
            }

            @Override
            public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                answer.complete(cause.toString());
            }

            @Override
            public void channelInactive(ChannelHandlerContext ctx) {
                answer.complete("closed without an answer");
            }
        };
    }
}

package dev.sluice.samples.gateway;

import dev.sluice.MultipartBody;
import dev.sluice.form.OutgoingForm;
import dev.sluice.netty.FormWriter;
import dev.sluice.netty.MultipartInput;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpChunkedInput;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import io.netty.handler.stream.ChunkedWriteHandler;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;
import org.springframework.core.io.buffer.NettyDataBufferFactory;
import org.springframework.http.ResponseEntity;
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
import org.springframework.web.reactive.function.BodyInserters;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.adapter.JdkFlowAdapter;
import reactor.netty.http.Http11SslContextSpec;
import reactor.netty.http.Http2SslContextSpec;
import reactor.netty.http.HttpProtocol;
import reactor.netty.tcp.SslProvider;

/** An HTTP client that sends and forwards forms. The responses are the status and the text, separated by a line end. */
interface FormClient extends AutoCloseable {
    CompletableFuture<String> send(URI uri, MultipartBody body);

    CompletableFuture<String> forward(URI uri, OutgoingForm form);

    @Override
    default void close() {}

    /** {@return clients for HTTP/1.1, with TLS if the address demands it, or for HTTP/2 over TLS} */
    static List<FormClient> all(boolean http2) throws GeneralSecurityException, IOException {
        return List.of(new Jdk(http2, false), new Netty(http2), new Spring(http2));
    }

    /** {@return a client for HTTP/1.1 that waits for {@code 100 Continue} before it sends a form} */
    static FormClient waiting() throws GeneralSecurityException {
        return new Jdk(false, true);
    }

    /** The client of the JDK. */
    final class Jdk implements FormClient {
        private final HttpClient client;
        private final boolean expectContinue;

        Jdk(boolean http2, boolean expectContinue) throws GeneralSecurityException {
            SSLContext tls = SSLContext.getInstance("TLS");
            tls.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
            this.client = HttpClient.newBuilder()
                    .sslContext(tls)
                    .version(http2 ? HttpClient.Version.HTTP_2 : HttpClient.Version.HTTP_1_1)
                    .build();
            this.expectContinue = expectContinue;
        }

        @Override
        public CompletableFuture<String> send(URI uri, MultipartBody body) {
            return post(uri, body.contentType(), body.publisher());
        }

        @Override
        public CompletableFuture<String> forward(URI uri, OutgoingForm form) {
            return post(uri, form.contentType(), form.publisher());
        }

        private CompletableFuture<String> post(
                URI uri, String contentType, java.net.http.HttpRequest.BodyPublisher body) {
            return client.sendAsync(
                            java.net.http.HttpRequest.newBuilder(uri)
                                    .header("Content-Type", contentType)
                                    .expectContinue(expectContinue)
                                    .POST(body)
                                    .build(),
                            BodyHandlers.ofString())
                    .thenApply(answer -> answer.statusCode() + "\n" + answer.body());
        }

        @Override
        public String toString() {
            return "client of JDK " + Runtime.version().feature() + (expectContinue ? " with 100-continue" : "");
        }
    }

    /** A pipeline of Netty. */
    final class Netty implements FormClient {
        private static final int MAX_ANSWER_BYTES = 1 << 20;

        private final boolean http2;
        private final SslContext tls;
        private final EventLoopGroup loop = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());

        Netty(boolean http2) throws IOException {
            this.http2 = http2;
            this.tls = SslContextBuilder.forClient()
                    .trustManager(InsecureTrustManagerFactory.INSTANCE)
                    .applicationProtocolConfig(new ApplicationProtocolConfig(
                            Protocol.ALPN,
                            SelectorFailureBehavior.NO_ADVERTISE,
                            SelectedListenerFailureBehavior.ACCEPT,
                            http2 ? ApplicationProtocolNames.HTTP_2 : ApplicationProtocolNames.HTTP_1_1))
                    .build();
        }

        @Override
        public CompletableFuture<String> send(URI uri, MultipartBody body) {
            return post(
                    uri,
                    body.contentType(),
                    body.contentLength(),
                    channel -> channel.writeAndFlush(new HttpChunkedInput(new MultipartInput(body))));
        }

        @Override
        public CompletableFuture<String> forward(URI uri, OutgoingForm form) {
            return post(uri, form.contentType(), OptionalLong.empty(), channel -> FormWriter.write(form, channel));
        }

        private CompletableFuture<String> post(
                URI uri, String contentType, OptionalLong length, Consumer<Channel> writer) {
            HttpRequest head = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, uri.getRawPath());
            head.headers()
                    .set(HttpHeaderNames.HOST, uri.getRawAuthority())
                    .set(HttpHeaderNames.CONTENT_TYPE, contentType);
            if (length.isPresent()) {
                head.headers().set(HttpHeaderNames.CONTENT_LENGTH, length.getAsLong());
            } else {
                head.headers().set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED);
            }
            CompletableFuture<String> answer = new CompletableFuture<>();
            Channel channel = connect(uri, answer);
            channel.write(head);
            writer.accept(channel);
            return answer;
        }

        /** {@return a connection, or a stream of a new connection} */
        private Channel connect(URI uri, CompletableFuture<String> response) {
            Channel connection = new Bootstrap()
                    .group(loop)
                    .channel(NioSocketChannel.class)
                    .handler(initializer(channel -> {
                        if (uri.getScheme().equals("https")) {
                            channel.pipeline().addLast(tls.newHandler(channel.alloc(), uri.getHost(), uri.getPort()));
                        }
                        if (http2) {
                            channel.pipeline()
                                    .addLast(
                                            Http2FrameCodecBuilder.forClient().build(),
                                            new Http2MultiplexHandler(new ChannelInboundHandlerAdapter()));
                        } else {
                            channel.pipeline().addLast(new HttpClientCodec()).addLast(handlers(response, channel));
                        }
                    }))
                    .connect(uri.getHost(), uri.getPort())
                    .syncUninterruptibly()
                    .channel();
            if (!http2) {
                return connection;
            }
            connection.pipeline().get(SslHandler.class).handshakeFuture().syncUninterruptibly();
            return new Http2StreamChannelBootstrap(connection)
                    .handler(initializer(stream -> stream.pipeline()
                            .addLast(new Http2StreamFrameToHttpObjectCodec(false))
                            .addLast(handlers(response, connection))))
                    .open()
                    .syncUninterruptibly()
                    .getNow();
        }

        private static ChannelHandler[] handlers(CompletableFuture<String> answer, Channel connection) {
            return new ChannelHandler[] {
                new HttpObjectAggregator(MAX_ANSWER_BYTES),
                new ChunkedWriteHandler(),
                new SimpleChannelInboundHandler<FullHttpResponse>() {
                    @Override
                    protected void channelRead0(ChannelHandlerContext ctx, FullHttpResponse response) {
                        answer.complete(response.status().code() + "\n"
                                + response.content().toString(StandardCharsets.UTF_8));
                        connection.close();
                    }

                    @Override
                    public void channelInactive(ChannelHandlerContext ctx) {
                        answer.completeExceptionally(new IOException("closed without an answer"));
                    }
                }
            };
        }

        private static ChannelInitializer<Channel> initializer(Consumer<Channel> pipeline) {
            return new ChannelInitializer<>() {
                @Override
                protected void initChannel(Channel channel) {
                    pipeline.accept(channel);
                }
            };
        }

        @Override
        public void close() {
            loop.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
        }

        @Override
        public String toString() {
            return "Netty";
        }
    }

    /** {@code WebClient} on Reactor Netty. */
    final class Spring implements FormClient {
        private static final NettyDataBufferFactory BUFFERS =
                new NettyDataBufferFactory(UnpooledByteBufAllocator.DEFAULT);

        private final WebClient client;

        Spring(boolean http2) {
            SslProvider.GenericSslContextSpec<SslContextBuilder> tls =
                    http2 ? Http2SslContextSpec.forClient() : Http11SslContextSpec.forClient();
            tls.configure(context -> context.trustManager(InsecureTrustManagerFactory.INSTANCE));
            reactor.netty.http.client.HttpClient connections = reactor.netty.http.client.HttpClient.create()
                    .secure(secure -> secure.sslContext(tls))
                    .protocol(http2 ? HttpProtocol.H2 : HttpProtocol.HTTP11);
            this.client = WebClient.builder()
                    .clientConnector(new ReactorClientHttpConnector(connections))
                    .build();
        }

        @Override
        public CompletableFuture<String> send(URI uri, MultipartBody body) {
            return text(client.post()
                    .uri(uri)
                    .header("Content-Type", body.contentType())
                    .headers(headers -> body.contentLength().ifPresent(headers::setContentLength))
                    .body(JdkFlowAdapter.flowPublisherToFlux(body.publisher()), ByteBuffer.class));
        }

        @Override
        public CompletableFuture<String> forward(URI uri, OutgoingForm form) {
            return text(client.post()
                    .uri(uri)
                    .header("Content-Type", form.contentType())
                    .body(BodyInserters.fromDataBuffers(
                            JdkFlowAdapter.flowPublisherToFlux(form).map(BUFFERS::wrap))));
        }

        private static CompletableFuture<String> text(WebClient.RequestHeadersSpec<?> request) {
            return request.exchangeToMono(response -> response.toEntity(String.class))
                    .map(Spring::text)
                    .toFuture();
        }

        private static String text(ResponseEntity<String> response) {
            return response.getStatusCode().value() + "\n" + response.getBody();
        }

        @Override
        public String toString() {
            return "WebClient";
        }
    }
}

package dev.sluice.samples.netty;

import dev.sluice.netty.MultipartHandlers;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http2.DefaultHttp2WindowUpdateFrame;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2SecurityUtil;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.ApplicationProtocolNegotiationHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.SupportedCipherSuiteFilter;
import io.netty.handler.timeout.ReadTimeoutHandler;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * An initializer of channels for HTTP/1.1 and HTTP/2 on one port. ALPN or, without TLS, the first bytes select the
 * protocol.
 */
public final class Protocols extends ChannelInitializer<SocketChannel> {
    private static final int MAX_HTTP_HEADER_BYTES = 16 << 10;
    private static final int MAX_CHUNK_BYTES = 64 << 10;
    private static final int MAX_STREAMS = 100;

    /**
     * The number of bytes by which the connection's flow-control window is enlarged. Streams with slow sinks must not
     * stop the other streams, so the window must exceed the windows of all streams together. With this number it is twice
     * as large, because Netty reopens a window only after half of it has been read. The initial window of the connection is
     * subtracted.
     */
    private static final int MORE_WINDOW = (2 * MAX_STREAMS - 1) * Http2CodecUtil.DEFAULT_WINDOW_SIZE;

    /** The longest time between two reads until the protocol is known. */
    private static final int HANDSHAKE_SECONDS = 120;

    /** Longer than {@code FormOptions.maxSinkWait} of any form: a form may wait ten minutes for an object store. */
    private static final int STREAM_SECONDS = 660;

    private static final Logger LOG = LoggerFactory.getLogger(Protocols.class);

    private final MultipartHandlers handlers;
    private final OtherRequests others;
    private final @Nullable SslContext tls;

    /** The responses to requests other than forms. */
    public interface Others {
        /** @param method the method of the request, but {@code GET} for {@code HEAD}, whose response loses its body later */
        FullHttpResponse respond(HttpRequest request, String method);
    }

    /** @throws IOException if no certificate can be generated */
    public Protocols(MultipartHandlers handlers, Others others, boolean tls) throws IOException {
        this.handlers = handlers;
        this.others = new OtherRequests(others);
        this.tls = tls ? tls() : null;
    }

    private static SslContext tls() throws IOException {
        return SslContextBuilder.forServer(LocalCertificate.ofThisProcess())
                .sslProvider(SslProvider.JDK)
                .ciphers(Http2SecurityUtil.CIPHERS, SupportedCipherSuiteFilter.INSTANCE)
                .applicationProtocolConfig(new ApplicationProtocolConfig(
                        Protocol.ALPN,
                        SelectorFailureBehavior.NO_ADVERTISE,
                        SelectedListenerFailureBehavior.ACCEPT,
                        ApplicationProtocolNames.HTTP_2,
                        ApplicationProtocolNames.HTTP_1_1))
                .build();
    }

    @Override
    protected void initChannel(SocketChannel channel) {
        if (tls == null) {
            channel.pipeline().addLast(new IdleTimeout(HANDSHAKE_SECONDS), new PrefaceDetector());
            return;
        }
        channel.pipeline()
                .addLast(
                        new IdleTimeout(HANDSHAKE_SECONDS),
                        tls.newHandler(channel.alloc()),
                        new ApplicationProtocolNegotiationHandler(ApplicationProtocolNames.HTTP_1_1) {
                            @Override
                            protected void configurePipeline(ChannelHandlerContext ctx, String protocol) {
                                configure(ctx.pipeline(), protocol.equals(ApplicationProtocolNames.HTTP_2));
                            }

                            /**
                             * The client does not trust the certificate or does not use TLS, which is not an error of
                             * the server.
                             */
                            @Override
                            protected void handshakeFailure(ChannelHandlerContext ctx, Throwable cause) {
                                LOG.debug("a TLS handshake failed", cause);
                                ctx.close();
                            }

                            @Override
                            public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
                                handshakeFailure(ctx, cause);
                            }
                        });
    }

    private void configure(ChannelPipeline pipeline, boolean http2) {
        if (!http2) {
            pipeline.remove(IdleTimeout.class); // the form handler has more precise timeouts
            HttpDecoderConfig http = new HttpDecoderConfig()
                    .setMaxHeaderSize(MAX_HTTP_HEADER_BYTES)
                    .setMaxChunkSize(MAX_CHUNK_BYTES);
            pipeline.addLast(new HttpServerCodec(http), handlers.newHandler(), others, new Errors());
            return;
        }
        pipeline.replace(IdleTimeout.class, null, new IdleTimeout(STREAM_SECONDS));
        // An HTTP/2 client half-closes single streams, not the connection.
        pipeline.channel().config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, false);
        pipeline.addLast(
                Http2FrameCodecBuilder.forServer()
                        .initialSettings(Http2Settings.defaultSettings()
                                .maxHeaderListSize(MAX_HTTP_HEADER_BYTES)
                                .maxConcurrentStreams(MAX_STREAMS))
                        .build(),
                new Http2MultiplexHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel stream) {
                        stream.pipeline()
                                .addLast(
                                        new Http2StreamFrameToHttpObjectCodec(true),
                                        handlers.newHandler(),
                                        others,
                                        new Errors());
                    }
                }),
                new Errors());
        pipeline.writeAndFlush(new DefaultHttp2WindowUpdateFrame(MORE_WINDOW));
    }

    /**
     * Closes a connection if nothing arrives for too long, or if the client disconnects, with or without a reset. Used
     * until the protocol is known, and for HTTP/2.
     */
    private static final class IdleTimeout extends ReadTimeoutHandler {
        IdleTimeout(int seconds) {
            super(seconds);
        }

        @Override
        protected void readTimedOut(ChannelHandlerContext ctx) {
            ctx.close();
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) throws Exception {
            if (event instanceof ChannelInputShutdownEvent) {
                ctx.close();
            }
            super.userEventTriggered(ctx, event);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) throws Exception {
            if (cause instanceof IOException) {
                LOG.debug("a connection failed", cause);
                ctx.close();
            } else {
                super.exceptionCaught(ctx, cause);
            }
        }
    }

    /**
     * Closes a connection or a stream after an error. After an {@link Http2Exception}, the codec itself closes it, with
     * the error code in GOAWAY or RST_STREAM. Without this handler, Netty would log the error as a warning with its
     * stack trace, although most errors are caused by clients.
     */
    private static final class Errors extends ChannelInboundHandlerAdapter {
        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            boolean closedByCodec = cause instanceof Http2Exception;
            boolean fromClient = closedByCodec || cause instanceof IOException || cause instanceof DecoderException;
            LOG.atLevel(fromClient ? Level.DEBUG : Level.ERROR).setCause(cause).log("a connection failed");
            if (!closedByCodec) {
                ctx.close();
            }
        }
    }

    /** Detects the preface of HTTP/2. No HTTP/1.1 request begins with it. */
    private final class PrefaceDetector extends ByteToMessageDecoder {
        @Override
        protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) {
            ByteBuf preface = Http2CodecUtil.connectionPrefaceBuf();
            try {
                int seen = Math.min(in.readableBytes(), preface.readableBytes());
                boolean http2 = in.slice(in.readerIndex(), seen).equals(preface.slice(0, seen));
                if (!http2 || seen == preface.readableBytes()) {
                    configure(ctx.pipeline(), http2);
                    ctx.pipeline().remove(this); // forwards the bytes received so far
                }
            } finally {
                preface.release();
            }
        }
    }
}

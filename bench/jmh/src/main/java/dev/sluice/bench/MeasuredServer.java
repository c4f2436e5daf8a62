package dev.sluice.bench;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.Boundary;
import dev.sluice.MultipartException;
import dev.sluice.MultipartOptions;
import dev.sluice.bench.peer.HandledForm;
import dev.sluice.bench.peer.Tally;
import dev.sluice.bench.peer.bytebuf.ByteBufPeer;
import dev.sluice.bench.peer.bytebuf.Decoding;
import dev.sluice.bench.peer.bytebuf.NettyDecoding;
import dev.sluice.bench.peer.bytebuf.SluiceDecoding;
import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.netty.FormRoute;
import dev.sluice.netty.MultipartHandlers;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.concurrent.DefaultEventExecutorGroup;
import io.netty.util.concurrent.EventExecutor;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The process that {@link EndToEnd} and {@link Fairness} measure: an HTTP/1.1 server that processes bodies in the way of one {@link
 * Variant} and responds with the parts that it found. It prints its port, and then its resource usage for each line that it reads from its
 * standard input. It exits when the input is closed.
 */
public final class MeasuredServer {
    private static final ObjectMapper JSON = new ObjectMapper();
    /** The path whose responses include checksums. Its requests are not measured, because computing checksums takes time. */
    static final String CHECKED = "/checked";

    private static final int MAX_CHUNK_BYTES = 64 << 10;
    private static final int MAX_IN_FLIGHT = 64;

    private final Variant variant;
    private final DefaultEventExecutorGroup workers =
            new DefaultEventExecutorGroup(Math.max(4, 2 * Runtime.getRuntime().availableProcessors()));
    private final LongAdder bytes = new LongAdder();

    private MeasuredServer(Variant variant) {
        this.variant = variant;
    }

    public static void main(String[] args) throws IOException {
        MeasuredServer server = new MeasuredServer(Variant.of(args[0]));
        System.out.println("port " + server.listen());
        server.reportUsage(new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)));
        System.exit(0);
    }

    private static Tally tally(HttpRequest request) {
        return request.uri().equals(CHECKED) ? Tally.checking() : Tally.counting();
    }

    private int listen() {
        MultipartHandlers handlers = handlers();
        Channel acceptor = new ServerBootstrap()
                .group(new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory()))
                .channel(NioServerSocketChannel.class)
                .option(ChannelOption.SO_BACKLOG, 512)
                .childOption(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT)
                .childOption(ChannelOption.TCP_NODELAY, true)
                .childHandler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline()
                                .addLast(
                                        new HttpServerCodec(4096, 16 << 10, MAX_CHUNK_BYTES),
                                        variant.isHandled() ? handlers.newHandler() : new Connection(channel));
                    }
                })
                .bind(InetAddress.getLoopbackAddress(), 0)
                .syncUninterruptibly()
                .channel();
        return ((InetSocketAddress) acceptor.localAddress()).getPort();
    }

    private MultipartHandlers handlers() {
        Forms forms = Forms.of(FormOptions.inMemory(MemoryBudget.of(64 << 20))
                .unlimitedBodyBytes()
                .unlimitedPartBytes()
                .build());
        FormRoute route = request -> {
            Tally tally = tally(request);
            return new HandledForm(tally, () -> {
                bytes.add(HttpUtil.getContentLength(request, 0L));
                return Unpooled.wrappedBuffer(JSON.writeValueAsBytes(tally.asTruth()));
            });
        };
        return variant.usesWorker()
                ? MultipartHandlers.builder(forms, route, workers).build()
                : MultipartHandlers.onEventLoop(forms, route).build();
    }

    private void reportUsage(BufferedReader in) throws IOException {
        while (in.readLine() != null) {
            System.out.println(
                    "usage " + PooledByteBufAllocator.DEFAULT.metric().usedDirectMemory() + " " + bytes.sum());
        }
    }

    /** Handles one connection. Confined to its event loop, except for tasks given to the worker. */
    private final class Connection extends ChannelInboundHandlerAdapter {
        private final Channel channel;
        private final EventExecutor worker = workers.next();
        private Tally tally = Tally.counting();
        private @Nullable Decoding decoding;
        private int inFlight;

        Connection(Channel channel) {
            this.channel = channel;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
            if (message instanceof HttpRequest request) {
                tally = tally(request);
                String type = request.headers().get(HttpHeaderNames.CONTENT_TYPE, "");
                decoding = decoding(variant, type, tally, this::onWorker);
            }
            if (message instanceof HttpContent content) {
                take(content, decoding);
            }
        }

        private void take(HttpContent content, @Nullable Decoding body) throws IOException {
            if (body == null) {
                content.release();
                return;
            }
            bytes.add(content.content().readableBytes());
            body.offer(content.content());
            if (content instanceof LastHttpContent) {
                body.finish();
                body.close();
                decoding = null;
                Tally found = tally;
                if (variant.usesWorker()) {
                    onWorker(() -> channel.eventLoop().execute(() -> respond(found)));
                } else {
                    respond(found);
                }
            }
        }

        /** Runs a task on the worker. If too many tasks are waiting, the connection is not read. */
        private void onWorker(Runnable task) {
            channel.config().setAutoRead(++inFlight <= MAX_IN_FLIGHT);
            worker.execute(() -> {
                task.run();
                channel.eventLoop().execute(this::done);
            });
        }

        private void done() {
            // Reading resumes only when the queue is half empty, so that one wake-up serves many chunks.
            if (--inFlight == MAX_IN_FLIGHT / 2) {
                channel.config().setAutoRead(true);
            }
        }

        private void respond(Tally found) {
            try {
                respond(HttpResponseStatus.OK, JSON.writeValueAsBytes(found.asTruth()));
            } catch (IOException e) {
                channel.pipeline().fireExceptionCaught(e);
            }
        }

        private void respond(HttpResponseStatus status, byte[] body) {
            var response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, Unpooled.wrappedBuffer(body));
            response.headers().set(HttpHeaderNames.CONTENT_LENGTH, body.length);
            channel.writeAndFlush(response);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            close();
            respond(HttpResponseStatus.BAD_REQUEST, String.valueOf(cause).getBytes(StandardCharsets.UTF_8));
            channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            close();
        }

        private void close() {
            if (decoding != null) {
                decoding.close();
                decoding = null;
            }
        }
    }

    /**
     * Creates the decoder for a body.
     *
     * @param worker the executor that runs tasks on another thread, in order
     */
    private static Decoding decoding(Variant variant, String contentType, Tally tally, Consumer<Runnable> worker)
            throws MultipartException {
        return switch (variant) {
            case SLUICE -> new ToWorker(Boundary.anyMultipart(contentType), tally, worker);
            case SLUICE_LOOP ->
                new SluiceDecoding(Boundary.anyMultipart(contentType), MultipartOptions.defaults(), tally);
            case NETTY42_LOOP -> new NettyDecoding(contentType, tally, false);
            case NETTY42 -> new OnWorker(new NettyDecoding(contentType, tally, false), worker);
            case HANDED_OVER -> chunk -> worker.accept(() -> ByteBufPeer.drop(tally, chunk));
            case DISCARD, HANDLER, HANDLER_LOOP -> chunk -> ByteBufPeer.drop(tally, chunk);
        };
    }

    /** Decodes on the worker. */
    private record OnWorker(NettyDecoding decoding, Consumer<Runnable> worker) implements Decoding {
        @Override
        public void offer(ByteBuf chunk) {
            worker.accept(() -> decoding.offer(chunk));
        }

        @Override
        public void finish() {
            worker.accept(() -> {
                try {
                    decoding.finish();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }

        @Override
        public void close() {
            worker.accept(decoding::close);
        }
    }

    /** Decodes on the event loop and passes the content to the worker, which is allowed to block. */
    private static final class ToWorker extends SluiceDecoding {
        private final Consumer<Runnable> worker;
        private List<Runnable> found = List.of();

        ToWorker(Boundary boundary, Tally tally, Consumer<Runnable> worker) {
            super(boundary, MultipartOptions.defaults(), tally);
            this.worker = worker;
        }

        @Override
        protected void drain() throws MultipartException {
            List<Runnable> ofChunk = new ArrayList<>();
            found = ofChunk;
            try {
                super.drain();
            } finally {
                worker.accept(() -> ofChunk.forEach(Runnable::run));
            }
        }

        @Override
        protected void data(ByteBuf content) {
            ByteBuf kept = content.retain();
            found.add(() -> {
                super.data(kept);
                kept.release();
            });
        }

        @Override
        protected void endPart(@Nullable String name, @Nullable String filename) {
            found.add(() -> super.endPart(name, filename));
        }
    }
}

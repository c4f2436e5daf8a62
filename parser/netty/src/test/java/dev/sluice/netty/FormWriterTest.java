package dev.sluice.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.NameEscaping;
import dev.sluice.form.FormOptions;
import dev.sluice.form.FormPart;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.OutgoingForm;
import dev.sluice.form.PartDecision;
import dev.sluice.testkit.CountingAllocator;
import dev.sluice.testkit.Eventually;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.lang.ref.WeakReference;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(300)
@ParameterizedClass(name = "HTTP/2: {0}")
@ValueSource(booleans = {false, true})
class FormWriterTest {
    private static final int FIELDS = 1000;

    private final CountingAllocator buffers = new CountingAllocator();
    private final MemoryBudget memory = MemoryBudget.of(1 << 24);
    private final FormOptions options =
            FormOptions.inMemory(memory).maxParts(FIELDS).build();

    private final CompletableFuture<Void> begun = new CompletableFuture<>();

    /** The fields that the server receives, or the reason why it has none. */
    private final CompletableFuture<List<String>> received = new CompletableFuture<>();

    private final boolean http2;
    private final NettyServer server;
    private final Channel channel;
    private volatile @Nullable Integer lingerOfClose;

    FormWriterTest(boolean http2) {
        this.http2 = http2;
        FormReceiver receiver = new FormReceiver() {
            @Override
            public FormOptions options(FormOptions defaults) {
                begun.complete(null);
                return defaults;
            }

            @Override
            public CompletionStage<FullHttpResponse> received(MultipartForm form, HttpHeaders trailers)
                    throws IOException {
                List<String> fields = new ArrayList<>();
                for (FormPart part : form.parts()) {
                    fields.add(part.name() + "=" + part.text());
                }
                received.complete(fields);
                return CompletableFuture.completedStage(Upload.text(200, ""));
            }

            @Override
            public FullHttpResponse failed(Throwable failure) {
                received.completeExceptionally(failure);
                return Upload.text(400, "");
            }
        };
        server = HttpChannels.server(
                MultipartHandlers.onEventLoop(Forms.of(options), request -> receiver)
                        .build(),
                http2);
        channel = HttpChannels.connect(server, http2, buffers, new ChannelOutboundHandlerAdapter() {
            @Override
            public void close(ChannelHandlerContext ctx, ChannelPromise promise) {
                lingerOfClose = ctx.channel().config().getOption(ChannelOption.SO_LINGER);
                ctx.close(promise);
            }
        });
    }

    @AfterEach
    void nothingIsLeft() {
        server.close();
        assertEquals(0, memory.used());
        assertEquals(List.of(), buffers.unreleased());
    }

    private WeakReference<OutgoingForm> forward(byte[] form) throws IOException {
        return forward(new ByteArrayInputStream(form));
    }

    /** Reads a form in this thread and forwards its parts to the server. */
    private WeakReference<OutgoingForm> forward(InputStream form) throws IOException {
        try (OutgoingForm out = OutgoingForm.create(NameEscaping.REJECT, buffers)) {
            HttpRequest head = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, "/");
            head.headers()
                    .set(HttpHeaderNames.HOST, "localhost")
                    .set(HttpHeaderNames.CONTENT_TYPE, out.contentType())
                    .set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED);
            channel.write(head);
            FormWriter.write(out, channel);
            Forms.of(out.options(options.toBuilder(), part -> PartDecision.to(out.part(part)))
                            .build())
                    .read(form, Upload.TYPE)
                    .close();
            return new WeakReference<>(out);
        }
    }

    private static byte[] form(int fields) {
        StringBuilder body = new StringBuilder();
        for (int i = 0; i < fields; i++) {
            body.append("--x\r\nContent-Disposition: form-data; name=\"f")
                    .append(i)
                    .append("\"\r\n\r\n")
                    .append(i)
                    .append("\r\n");
        }
        return body.append("--x--\r\n").toString().getBytes(StandardCharsets.US_ASCII);
    }

    @Test
    void manyFields_areReceivedInOrder() throws Exception {
        forward(form(FIELDS));
        assertEquals(IntStream.range(0, FIELDS).mapToObj(i -> "f" + i + "=" + i).toList(), received.get());
    }

    /** Otherwise a connection that is used again would keep all its forms in memory. */
    @Test
    void completeForm_isNotReachableFromTheConnection() throws Exception {
        WeakReference<OutgoingForm> form = forward(form(10));
        received.get();
        Eventually.isCollected(form, "the connection still refers to the form");
    }

    @Test
    void malformedForm_resetsTheRequest() {
        byte[] form = form(10);
        InputStream end = new InputStream() {
            @Override
            public int read() {
                begun.join(); // the server does not see a stream that is reset before it has read the head
                return -1;
            }
        };
        InputStream truncated = new ByteArrayInputStream(Arrays.copyOf(form, form.length - 5));
        assertThrows(MultipartException.class, () -> forward(new SequenceInputStream(truncated, end)));
        Throwable failure =
                assertThrows(ExecutionException.class, received::get).getCause();
        assertEquals(
                Reason.TRUNCATED,
                assertInstanceOf(MultipartException.class, failure).reason());
        channel.closeFuture().syncUninterruptibly();
        assertEquals(http2 ? null : 0, lingerOfClose, "without SO_LINGER 0, the connection ends like a complete one");
    }

    @Test
    void closedChannel_failsTheForm() {
        channel.close().syncUninterruptibly();
        assertThrows(IOException.class, () -> forward(form(10)));
    }

    @Test
    void endedEventLoop_failsTheForm() {
        server.close();
        assertThrows(ClosedChannelException.class, () -> forward(form(FIELDS)));
    }
}

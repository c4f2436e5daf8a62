package dev.sluice.samples.gateway;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.Preset;
import dev.sluice.form.FormOptions;
import dev.sluice.form.FormPart;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.samples.gateway.Upstream.Behaviour;
import dev.sluice.testkit.Eventually;
import dev.sluice.testkit.LeakCheck;
import dev.sluice.testkit.ProofSize;
import dev.sluice.testkit.RawHttp;
import dev.sluice.testkit.TestForm;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http2.DefaultHttp2FrameWriter;
import io.netty.handler.codec.http2.Http2CodecUtil;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Tests of a gateway that forwards forms while they arrive, with failures on both sides. The gateways forward {@code title}
 * and {@code photo}, and remove {@code csrf}.
 */
@ExtendWith(LeakCheck.class)
@Timeout(300)
public abstract class ForwardingContract {
    static {
        new HttpServerCodec(); // loads constants that are buffers and would look like leaks
        Http2CodecUtil.connectionPrefaceBuf().release();
        new DefaultHttp2FrameWriter();
    }

    protected static final Duration MAX_WAIT = Duration.ofSeconds(4);

    /** The step between the bytes at which the connection of a client ends. */
    private static final int CLIENT_STEP = ProofSize.of("sluice.forward.client.step", 5, 1);

    /** The step between the bytes at which the upstream resets its connection. */
    private static final int UPSTREAM_STEP = ProofSize.of("sluice.forward.upstream.step", 25, 1);

    private static final byte[] FORM = form(100_000).body();
    private static final int LARGE_BYTES = 256 << 20;

    /** A limit above the socket buffers of two connections, in Linux up to 36 MiB each, and the memory of one form. */
    private static final int MAX_BUFFERED_BYTES = 96 << 20;

    private URI gateway;

    /** Starts the gateway. {@return the address of its forms} */
    protected abstract URI start(URI upstream) throws Exception;

    protected abstract void stop() throws Exception;

    /** {@return the bytes that forms hold in the gateway} */
    protected abstract long usedMemory();

    /** {@return whether a response that comes before the end of the form ends the form} */
    protected boolean noticesEarlyResponses() {
        return true;
    }

    protected int statusIfStalled() {
        return 503;
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        if (gateway != null) {
            stop();
            Eventually.passes(() -> assertEquals(0, usedMemory()));
        }
    }

    static TestForm form(int photoBytes) {
        byte[] photo = TestForm.noise(photoBytes, 1);
        byte[] signature = {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
        System.arraycopy(signature, 0, photo, 0, signature.length);
        return new TestForm()
                .field("title", "Sea")
                .field("csrf", "1234")
                .part(
                        "Content-Disposition: form-data; name=\"photo\"; filename=\"a.png\"\r\nContent-Type: image/png",
                        photo);
    }

    void startBefore(Upstream upstream) throws Exception {
        gateway = start(upstream.uri());
    }

    private RawHttp connectTo(Upstream upstream) throws Exception {
        startBefore(upstream);
        return connect();
    }

    RawHttp connect() throws IOException {
        return new RawHttp(gateway.getPort());
    }

    int send(byte[] body) throws IOException {
        try (RawHttp client = connect()) {
            client.send(TestForm.request(gateway.getPath(), body));
            return client.response().status();
        }
    }

    private static List<String> parts(Upstream.Request request) throws IOException {
        FormOptions strict = FormOptions.inMemory(MemoryBudget.of(1 << 24))
                .maxInMemoryBytes(1 << 20)
                .preset(Preset.STRICT)
                .build();
        List<String> parts = new ArrayList<>();
        try (MultipartForm form =
                Forms.of(strict).read(new ByteArrayInputStream(request.body()), request.header("content-type"))) {
            for (FormPart part : form.parts()) {
                parts.add(part.name() + " " + part.filename() + " " + TestForm.sha256(part.bytes()));
            }
        }
        return parts;
    }

    @Test
    void form_isForwardedWithoutRemovedPartsAndTrailers() throws Exception {
        try (Upstream upstream = new Upstream(Behaviour.ACCEPT)) {
            startBefore(upstream);
            byte[] whole = TestForm.chunked(gateway.getPath(), FORM);
            byte[] trailer = "X-Signature: 1\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
            String boundary = "";
            for (int i = 0; i < 3; i++) {
                try (RawHttp client = connect()) {
                    client.send(whole, 0, whole.length - 2).send(trailer);
                    RawHttp.Response response = client.response();
                    assertEquals("200 received", response.status() + " " + response.body());
                    String type = response.headers().getOrDefault("content-type", "none: a browser guesses");
                    assertTrue(type.startsWith("text/plain") || type.equals("application/octet-stream"), type);
                }
                Upstream.Request request = upstream.request();
                assertTrue(request.complete());
                assertNotEquals(boundary, request.header("content-type"));
                boundary = request.header("content-type");
                assertFalse(boundary.contains(TestForm.BOUNDARY));
                int end = FORM.length - "\r\n----\r\n".length() - TestForm.BOUNDARY.length();
                byte[] photo = Arrays.copyOfRange(FORM, end - 100_000, end);
                assertEquals(
                        List.of(
                                "title null " + TestForm.sha256("Sea".getBytes(StandardCharsets.UTF_8)),
                                "photo a.png " + TestForm.sha256(photo)),
                        parts(request));
            }
        }
    }

    /** {@return whether a file input that was left empty reaches the other server} */
    protected boolean forwardsEmptyInputs() {
        return true;
    }

    @Test
    void inputLeftEmptyAndTwoFilesOfOneName_areForwarded() throws Exception {
        byte[] image = form(1000).open();
        byte[] png = Arrays.copyOfRange(image, image.length - 1002, image.length - 2);
        TestForm empty = new TestForm().field("title", "Sea").file("photo", "", new byte[0]);
        TestForm two = new TestForm().file("photo", "a.png", png).file("photo", "a.png", png);
        try (Upstream upstream = new Upstream(Behaviour.ACCEPT)) {
            startBefore(upstream);
            for (TestForm form : List.of(empty, two)) {
                assertEquals(200, send(form.body()));
                Upstream.Request request = upstream.request();
                assertTrue(request.complete());
                String start = form == empty ? "photo  " : "photo a.png "; // an empty file name
                List<String> parts = parts(request);
                long found =
                        parts.stream().filter(part -> part.startsWith(start)).count();
                assertEquals(form == two ? 2 : forwardsEmptyInputs() ? 1 : 0, found, parts::toString);
            }
        }
    }

    @Test
    void bodyOfAnotherBoundaryOrType_isNotCompleted() throws Exception {
        try (Upstream upstream = new Upstream(Behaviour.ACCEPT)) {
            startBefore(upstream);
            assertEquals(
                    400,
                    send(new String(form(300).body(), ISO_8859_1)
                            .replace(TestForm.BOUNDARY, "other")
                            .getBytes(ISO_8859_1)));
            try (RawHttp client = connect()) {
                client.send("POST " + gateway.getPath()
                        + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
                assertEquals(415, client.response().status());
            }
            assertEquals(
                    0, upstream.awaitEnd().filter(Upstream.Request::complete).count());
        }
    }

    @Test
    void malformedForm_getsNoCloseDelimiter() throws Exception {
        try (Upstream upstream = new Upstream(Behaviour.ACCEPT)) {
            startBefore(upstream);
            for (int cut : new int[] {1, 20, 200, 30_000}) {
                assertEquals(400, send(Arrays.copyOf(FORM, FORM.length - cut)), "without the last " + cut + " bytes");
                assertFalse(upstream.request().complete());
            }
        }
    }

    @Test
    @Tag("sized")
    void client_disconnectsAtAnyByte_everythingIsReleased() throws Exception {
        try (Upstream upstream = new Upstream(Behaviour.ACCEPT)) {
            startBefore(upstream);
            byte[] body = form(300).body();
            byte[] request = TestForm.request(gateway.getPath(), body);
            for (int at = 1; at < request.length; at += CLIENT_STEP) {
                try (RawHttp client = connect()) {
                    client.send(request, 0, at);
                    if (at % 2 == 0) {
                        client.reset();
                    }
                }
            }
            upstream.awaitEnd(); // otherwise the next form could wait for hundreds of disconnected ones
            assertEquals(200, send(body));
            assertEquals(
                    1, upstream.awaitEnd().filter(Upstream.Request::complete).count());
        }
    }

    @Test
    @Tag("sized")
    void upstream_disconnectsWithinBody_isBadGateway() throws Exception {
        try (Upstream upstream = new Upstream(Behaviour.RESET)) {
            startBefore(upstream);
            byte[] body = form(300).body();
            for (int at = 0; at < body.length; at += UPSTREAM_STEP) {
                upstream.resetAfter(at);
                assertEquals(502, send(body), "after " + at + " bytes");
            }
            assertEquals(
                    0, upstream.awaitEnd().filter(Upstream.Request::complete).count());
        }
    }

    @Test
    void upstream_rejectsEarly_formEnds() throws Exception {
        try (Upstream upstream = new Upstream(Behaviour.REFUSE);
                RawHttp client = connectTo(upstream)) {
            if (noticesEarlyResponses()) {
                sendLargeForm(client, new AtomicInteger());
            } else {
                client.send(TestForm.request(gateway.getPath(), FORM));
            }
            assertEquals(403, client.response().status());
            assertEquals(!noticesEarlyResponses(), upstream.request().complete());
        }
    }

    @Test
    void upstream_unreachable_isBadGateway() throws Exception {
        gateway = start(Upstream.nowhere());
        assertEquals(502, send(FORM));
    }

    @Test
    void upstream_stalls_clientIsPausedAndFormEnds() throws Exception {
        try (Upstream upstream = new Upstream(Behaviour.STALL);
                RawHttp client = connectTo(upstream)) {
            AtomicInteger sent = new AtomicInteger();
            Thread sender = sendLargeForm(client, sent);
            assertEquals(statusIfStalled(), client.response().status());
            assertTrue(sent.get() < MAX_BUFFERED_BYTES, () -> "the gateway took " + sent + " bytes");
            client.reset();
            sender.join();
        }
    }

    /** Starts a thread that sends half of a large form, or less if the gateway closes the connection. */
    private Thread sendLargeForm(RawHttp client, AtomicInteger sent) throws IOException {
        byte[] start = form(1000).open();
        client.send(TestForm.head(gateway.getPath(), LARGE_BYTES)).send(start, 0, start.length - 2);
        Thread sender = new Thread(() -> {
            try {
                for (byte[] noise = new byte[64 << 10]; sent.get() < LARGE_BYTES / 2; sent.addAndGet(noise.length)) {
                    client.send(noise);
                }
            } catch (IOException e) {
                // the gateway has closed the connection
            }
        });
        sender.start();
        return sender;
    }

    @Test
    void bodyWithContentCoding_isRejected() throws Exception {
        try (Upstream upstream = new Upstream(Behaviour.ACCEPT)) {
            startBefore(upstream);
            try (RawHttp client = connect()) {
                client.send(TestForm.head(gateway.getPath(), "Content-Encoding: gzip", "Content-Length: 5"))
                        .send("aaaaa");
                assertEquals(415, client.response().status());
            }
            assertEquals(
                    0, upstream.awaitEnd().filter(Upstream.Request::complete).count());
        }
    }
}

package dev.sluice.form;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.NameEscaping;
import dev.sluice.PartHead;
import dev.sluice.Preset;
import dev.sluice.Received;
import dev.sluice.Throwing;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledHeapByteBuf;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

class OutgoingFormTest extends SpooledTest {
    private static final byte[] FORM = new Upload()
            .field("title", "Sea")
            .field("csrf", "1")
            .file("photo", "a.jpg", "123")
            .file("empty", "b.jpg", "")
            .toBytes();

    private final OutgoingForm out = OutgoingForm.create(NameEscaping.REJECT, ByteBufAllocator.DEFAULT);
    private final Received<ByteBuf> received = new Received<>(0);

    private static PartDecision decide(OutgoingForm out, PartHead head) {
        return switch (head.name()) {
            case "csrf" -> PartDecision.skip();
            case "title" -> PartDecision.to(out.part("subject", null, "text/plain"));
            default -> PartDecision.to(out.part(head));
        };
    }

    private FormOptions options(Preset preset) {
        return out.options(FormOptions.inMemory(budget).preset(preset), head -> decide(out, head))
                .build();
    }

    private void send(byte[] form, int chunkSize) throws IOException {
        try (out;
                PushedForm in = PushedForm.create(Upload.BOUNDARY, options(Preset.STANDARD))) {
            in.runResumed();
            for (int at = 0; at < form.length; at += chunkSize) {
                Upload.feed(in, form, at, Math.min(form.length, at + chunkSize), chunkSize);
                in.runResumed();
            }
            in.intake().finish();
            in.runResumed();
            in.result().close();
        }
    }

    /** {@return the parts that STRICT reads: name, file name, type and content} */
    private List<String> read(String contentType, ByteArrayOutputStream body) throws IOException {
        FormOptions strict = FormOptions.inMemory(budget).preset(Preset.STRICT).build();
        InputStream in = new ByteArrayInputStream(body.toByteArray());
        try (MultipartForm form = Forms.of(strict).read(in, contentType)) {
            List<String> parts = new ArrayList<>();
            for (FormPart part : form.parts()) {
                parts.add(part.name() + " " + part.filename() + " " + part.contentType() + " " + part.text());
            }
            return parts;
        }
    }

    private void subscribe() {
        out.subscribe(received);
        received.subscription.request(1);
    }

    @Test
    void parts_atEverySplit_areSentRenamedOrDropped() throws IOException {
        for (int size = 1; size <= FORM.length; size++) {
            OutgoingForm each = OutgoingForm.create(NameEscaping.REJECT, ByteBufAllocator.DEFAULT);
            Received<ByteBuf> body = new Received<>(1);
            each.subscribe(body);
            FormOptions options = each.options(FormOptions.inMemory(budget), head -> decide(each, head))
                    .build();
            try (each;
                    PushedForm in = PushedForm.create(Upload.BOUNDARY, options)) {
                Upload.feed(in, FORM, 0, FORM.length, size);
                in.finish().close();
            }
            assertEquals(
                    List.of("subject null text/plain Sea", "photo a.jpg null 123", "empty b.jpg null "),
                    read(each.contentType(), body.bytes));
            assertEquals(1, body.completions);
        }
    }

    @Test
    void form_waitsUntilTheSubscriberRequestsMore() throws IOException {
        try (out;
                PushedForm in = PushedForm.create(Upload.BOUNDARY, options(Preset.STANDARD))) {
            assertEquals(0, in.intake().demand());
            out.subscribe(received);
            in.runResumed();
            assertEquals(0, in.intake().demand());
            received.onChunk = () -> {};
            received.subscription.request(1);
            in.runResumed();
            assertTrue(in.intake().demand() > 0);
            in.intake().offer(Unpooled.wrappedBuffer(FORM));
            assertEquals(1, received.sizes.size());
            assertFalse(in.intake().isOver());
            for (int sent = 2; sent <= 5; sent++) {
                received.subscription.request(1);
                in.runResumed();
                assertEquals(sent, received.sizes.size());
            }
            in.intake().finish();
            assertEquals(0, received.completions);
            received.subscription.request(Long.MAX_VALUE);
            in.runResumed();
            assertEquals(1, received.completions);
            in.result().close();
        }
    }

    @Test
    void form_endsEarlyAtAnyByte_outgoingRequestFails() {
        for (int end = 0; end < FORM.length - 2; end++) {
            byte[] truncated = Arrays.copyOf(FORM, end);
            OutgoingForm each = OutgoingForm.create(NameEscaping.REJECT, ByteBufAllocator.DEFAULT);
            Received<ByteBuf> body = new Received<>(1);
            each.subscribe(body);
            FormOptions options = each.options(FormOptions.inMemory(budget), head -> decide(each, head))
                    .build();
            assertThrows(MultipartException.class, () -> {
                try (each;
                        PushedForm in = PushedForm.create(Upload.BOUNDARY, options)) {
                    Upload.feed(in, truncated, 0, truncated.length, 7);
                    in.finish().close();
                }
            });
            assertInstanceOf(IOException.class, body.failure, "ended at " + end);
            assertEquals(0, body.completions);
        }
    }

    @Test
    void outgoingRequest_endsEarlyAtAnyBuffer_formFails() {
        IOException rejected = new IOException("the other server responds with 403");
        List<Function<Received<ByteBuf>, Runnable>> ways = List.of(
                body -> () -> body.subscription.cancel(), body -> () -> body.subscription.request(0), body -> () -> {
                    throw new IllegalStateException("a broken subscriber");
                });
        for (int at = 1; at <= 6; at++) {
            for (int way = 0; way <= ways.size(); way++) {
                OutgoingForm each = OutgoingForm.create(NameEscaping.REJECT, ByteBufAllocator.DEFAULT);
                Received<ByteBuf> body = new Received<>(0);
                each.subscribe(body);
                body.subscription.request(1);
                Runnable end = way < ways.size() ? ways.get(way).apply(body) : () -> each.abort(rejected);
                int last = at;
                body.onChunk = () -> {
                    if (body.sizes.size() < last) {
                        body.subscription.request(1);
                    } else {
                        end.run();
                    }
                };
                FormOptions options = each.options(FormOptions.inMemory(budget), head -> decide(each, head))
                        .build();
                try (each;
                        PushedForm in = PushedForm.create(Upload.BOUNDARY, options)) {
                    in.intake().offer(Unpooled.wrappedBuffer(FORM));
                    in.intake().finish();
                    in.runResumed();
                    Throwable failure = assertThrows(Throwable.class, in::result);
                    assertEquals(way == ways.size(), failure == rejected);
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
                assertEquals(0, body.completions);
                assertEquals(way == 1 || way == 3, body.failure != null); // none after a cancellation
            }
        }
    }

    /** Unlike Java, Kotlin permits a checked exception. */
    @Test
    void subscriber_throwsCheckedException_waitingFormFails() throws IOException {
        Exception broken = new Exception("a broken subscriber");
        received.onChunk = () -> {};
        subscribe();
        try (out;
                PushedForm in = PushedForm.create(Upload.BOUNDARY, options(Preset.STANDARD))) {
            in.runResumed();
            in.intake().offer(Unpooled.wrappedBuffer(FORM));
            assertEquals(1, received.sizes.size());
            received.onChunk = () -> {
                throw Throwing.<RuntimeException>unchecked(broken);
            };
            received.subscription.request(1);
            in.runResumed();
            assertSame(broken, assertThrows(IOException.class, in::result).getCause());
        }
    }

    @Test
    void commit_cancelled_requestFails() throws IOException {
        IOException gone = new IOException("the connection is closed");
        Readiness commit = out.commit();
        assertFalse(commit.isReady());
        out.cancelCommit(gone);
        assertEquals(gone, commit.failure());
        subscribe();
        assertEquals(gone, received.failure);
    }

    @Test
    void response_afterCompleteRequest_doesNotFailTheForm() throws IOException {
        subscribe();
        send(FORM, 1000);
        out.abort(new IOException("too late"));
        assertEquals(1, received.completions);
        assertEquals(null, received.failure);
    }

    @Test
    void subscriberOfEndedForm_getsTheFailure() throws IOException {
        PushedForm in = PushedForm.create(Upload.BOUNDARY, options(Preset.STANDARD));
        in.intake().abort(new IOException("the connection is closed"));
        out.subscribe(received);
        assertEquals("the form of the client was rejected or is incomplete", received.failure.getMessage());
        Received<ByteBuf> second = new Received<>(0);
        out.subscribe(second);
        second.subscription.request(1);
        second.subscription.cancel();
        assertInstanceOf(IllegalStateException.class, second.failure);
        assertThrows(IOException.class, out::admit);
    }

    @Test
    void subscriber_thatComesDuringAbort_getsTheFailure() throws IOException {
        IOException late = new IOException("the other server has answered early");
        ByteBuf content = new UnpooledHeapByteBuf(UnpooledByteBufAllocator.DEFAULT, 8, 8) {
            @Override
            public ByteBuf retainedSlice() {
                return retain();
            }

            @Override
            protected void deallocate() {
                super.deallocate();
                out.subscribe(received); // as another thread would, between two steps of the abort
            }
        };
        content.writeZero(8);
        assertFalse(out.part("a", null, null).write(content).isReady());
        content.release();
        out.abort(late);
        assertSame(late, received.failure);
    }

    @Test
    void unusualName_isRejected() {
        subscribe();
        byte[] form = new Upload().field("a;b", "1").toBytes();
        MultipartException rejected = assertThrows(MultipartException.class, () -> send(form, 1000));
        assertEquals(Reason.MALFORMED_HEADER, rejected.reason());
        assertEquals(0, rejected.partIndex());
        assertInstanceOf(IOException.class, received.failure);
        PartSink sink = out.part("a\r\n", null, null);
        assertThrows(IllegalArgumentException.class, sink::complete);
    }

    @Test
    void emptyFileInput_isSentUnlessItHasContent() throws IOException {
        subscribe();
        send(new Upload().file("photo", "", "").toBytes(), 1000);
        assertEquals(List.of("photo  application/octet-stream "), read(out.contentType(), received.bytes));
        PartSink sink = OutgoingForm.create(NameEscaping.REJECT, ByteBufAllocator.DEFAULT)
                .part("photo", "", null);
        assertThrows(IllegalArgumentException.class, () -> sink.write(Unpooled.wrappedBuffer(FORM)));
    }

    @Test
    void nestedAndEncodedParts_areSentAsPartsOfTheForm() throws IOException {
        subscribe();
        byte[] form = new Upload()
                .part(
                        "Content-Disposition: form-data; name=\"n\"\r\nContent-Type: multipart/mixed; boundary=y\r\n",
                        "--y\r\nContent-Disposition: attachment; filename=\"a\"\r\n\r\nA\r\n--y\r\n"
                                + "Content-Disposition: attachment; filename=\"b\"\r\n\r\nB\r\n--y--")
                .part("Content-Disposition: form-data; name=\"e\"\r\nContent-Transfer-Encoding: base64\r\n", "U2Vh")
                .toBytes();
        send(form, 1000);
        assertEquals(List.of("n a null A", "n b null B", "e null null Sea"), read(out.contentType(), received.bytes));
    }

    @Test
    void publisher_sendsForm() throws IOException {
        Received<ByteBuffer> body = new Received<>(Long.MAX_VALUE);
        assertEquals(-1, out.publisher().contentLength());
        out.publisher().subscribe(body);
        send(FORM, 10);
        assertEquals(3, read(out.contentType(), body.bytes).size());
        assertNull(body.failure);
        assertEquals(1, body.completions);
    }

    @Test
    void publisher_withoutMemoryForACopy_failsAndReleasesTheContent() throws IOException {
        OutOfMemoryError noMemory = new OutOfMemoryError();
        ByteBuf content = new UnpooledHeapByteBuf(UnpooledByteBufAllocator.DEFAULT, 8, 8) {
            @Override
            public boolean hasArray() {
                return false;
            }

            @Override
            public ByteBuf retainedSlice() {
                return retain();
            }

            @Override
            public ByteBuf getBytes(int index, byte[] target, int from, int length) {
                throw noMemory;
            }
        };
        content.writeZero(8);
        Received<ByteBuffer> body = new Received<>(Long.MAX_VALUE);
        out.publisher().subscribe(body);
        PartSink part = out.part("a", null, null);
        assertSame(noMemory, assertThrows(OutOfMemoryError.class, () -> part.write(content)));
        assertSame(noMemory, body.failure);
        assertEquals(1, content.refCnt());
        content.release();
    }
}

package dev.sluice.form;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.Preset;
import dev.sluice.Setting;
import dev.sluice.testkit.FaultyFileSystem;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The decision about a form by the head of its request, and the bytes that are read of a rejected body. */
class RejectedHeadTest extends SpooledTest {
    private static final String TYPE = "multipart/form-data; boundary=x";
    private static final long MIB = 1 << 20;

    private static final InputStream UNREAD = new InputStream() {
        @Override
        public int read() {
            throw new AssertionError("the body was read");
        }
    };

    /** The reports, in order. */
    private static final class Reported implements FormMetrics {
        final List<String> events = new ArrayList<>();

        @Nullable
        FormSummary last;

        @Override
        public void formStarted() {
            events.add("started");
        }

        @Override
        public void formEnded(FormSummary summary) {
            events.add(summary.outcome() + " " + summary.reason());
            last = summary;
        }
    }

    private static FormHead announced(long length) {
        return new FormHead(TYPE, length, false);
    }

    @Test
    void contentLength_aboveLimit_isRejectedWithoutReading() throws IOException {
        Forms forms =
                Forms.of(FormOptions.builder(spool, budget).maxBodyBytes(100).build());
        long tooMuch = 2 * MIB; // more than is read and discarded
        MultipartException rejected = assertThrows(MultipartException.class, () -> forms.read(UNREAD, TYPE, tooMuch));
        assertEquals(Reason.BODY_TOO_LARGE, rejected.reason());
        assertEquals(
                415,
                assertThrows(MultipartException.class, () -> forms.read(InputStream.nullInputStream(), null, 10))
                        .httpStatus());
        byte[] body = new Upload().field("a", "1").toBytes();
        for (long length : new long[] {body.length, -1, 1, 100}) { // the length does not limit what is read
            try (MultipartForm form = forms.read(new ByteArrayInputStream(body), TYPE, length)) {
                assertEquals("1", form.text("a"));
            }
        }
    }

    @Test
    void rejectedBody_isReadUpToMaxDrainBytes() throws IOException {
        Forms forms =
                Forms.of(FormOptions.builder(spool, budget).maxBodyBytes(100).build());
        byte[] body = new Upload().file("a", "a.bin", "x".repeat((int) MIB / 2)).toBytes();
        for (String type : new String[] {TYPE, "application/json"}) {
            InputStream undeclared = new ByteArrayInputStream(body);
            assertThrows(MultipartException.class, () -> forms.read(undeclared, type));
            assertEquals(0, undeclared.available());
            InputStream declared = new ByteArrayInputStream(body);
            assertThrows(MultipartException.class, () -> forms.read(declared, type, body.length));
            assertEquals(0, declared.available());
            InputStream longer = new ByteArrayInputStream(new byte[(int) (4 * MIB)]);
            assertThrows(MultipartException.class, () -> forms.read(longer, type, options -> options));
            assertTrue(longer.available() > 2 * MIB, "more than 2 MiB were read");
        }
    }

    private static void assertReportedOnce(Reason reason, FormHead head, FormOptions given) {
        Reported reported = new Reported();
        FormOptions options = given.toBuilder().metrics(reported).build();
        Forms forms = Forms.of(options);
        List<String> once =
                List.of("started", FormSummary.Outcome.valueOf(reason.kind().name()) + " " + reason);
        MultipartException read =
                assertThrows(MultipartException.class, () -> forms.read(UNREAD, head, options), head.toString());
        assertEquals(reason, read.reason());
        assertEquals(once, reported.events);
        reported.events.clear();
        FormIntake intake = forms.receive(new PushedForm(head), options);
        assertTrue(intake.isOver());
        intake.abort(new IOException("the connection broke"));
        assertEquals(once, reported.events);
    }

    @Test
    void rejectedHead_isReportedOnce() {
        FormOptions options =
                FormOptions.builder(spool, budget).maxBodyBytes(100 * MIB).build();
        assertReportedOnce(Reason.UNSUPPORTED_MEDIA_TYPE, FormHead.of(null), options);
        assertReportedOnce(Reason.UNSUPPORTED_MEDIA_TYPE, FormHead.of("application/json"), options);
        assertReportedOnce(Reason.UNSUPPORTED_MEDIA_TYPE, FormHead.of("multipart/mixed; boundary=x"), options);
        assertReportedOnce(
                Reason.UNSUPPORTED_MEDIA_TYPE, new FormHead(List.of(TYPE), "gzip", -1, false, null), options);
        assertReportedOnce(Reason.MISSING_BOUNDARY, FormHead.of("multipart/form-data"), options);
        assertReportedOnce(Reason.INVALID_BOUNDARY, FormHead.of("multipart/form-data; boundary=\"\""), options);
        assertReportedOnce(Reason.DUPLICATE_HEADER, new FormHead(List.of(TYPE, TYPE), null, -1, false, null), options);
        assertReportedOnce(Reason.BODY_TOO_LARGE, announced(100 * MIB + 1), options);
        assertReportedOnce(Reason.SPOOL_FULL, announced(100 * MIB), options);
        assertReportedOnce(
                Reason.MEMORY_FULL,
                announced(10),
                FormOptions.inMemory(MemoryBudget.of(0)).build());
    }

    @Test
    void rejectionByAnAdapter_isReportedOnce() {
        Reported reported = new Reported();
        FormOptions options = FormOptions.inMemory(budget).metrics(reported).build();
        MultipartException rejection =
                MultipartException.because(Reason.UNSUPPORTED_MEDIA_TYPE).build();
        FormHead head = new FormHead(List.of(TYPE), null, -1, false, "192.0.2.1");
        Forms.reportRejected(options, head, rejection);
        FormSummary summary = Objects.requireNonNull(reported.last);
        assertSame(rejection, summary.failure());
        assertEquals("192.0.2.1", summary.remoteAddress());
        Forms.reportRejected(options, head, null);
        assertEquals(
                List.of("started", "MALFORMED UNSUPPORTED_MEDIA_TYPE", "started", "REFUSED null"), reported.events);
        Forms.reportRejected(FormOptions.inMemory(budget).build(), head, null); // has no effect without metrics
    }

    private @Nullable Reason headRejection(long length, UnaryOperator<FormOptions.Builder> change) {
        FormOptions.Builder unlimited = FormOptions.builder(spool, budget).unlimitedBodyBytes();
        FormOptions options = change.apply(unlimited).build();
        FormIntake intake = Forms.of(options).receive(new PushedForm(announced(length)), options);
        if (!intake.isOver()) {
            intake.abort(new IOException("the connection broke"));
            return null;
        }
        CompletionException failure = assertThrows(CompletionException.class, intake.completion::join);
        return ((MultipartException) failure.getCause()).reason();
    }

    /** The quota is 16 MiB, and memory may hold 1 MiB of a body. Delimiters, preamble and epilogue are not stored. */
    @Test
    void contentLength_aboveSpoolQuota_isRejectedWithoutReading() throws IOException {
        UnaryOperator<FormOptions.Builder> none = options -> options;
        assertNull(headRejection(17 * MIB, none), "rejected, although 1 MiB may stay in memory");
        assertEquals(Reason.SPOOL_FULL, headRejection(18 * MIB, none));
        assertNull(headRejection(18 * MIB, options -> options.maxInMemoryBytes(2 * MIB)));
        assertNull(headRejection(-1, none));
        PartSink other = PartSink.toFile(spool, root.resolve("target"));
        other.write(Unpooled.wrappedBuffer(new byte[(int) (10 * MIB)]));
        assertEquals(Reason.SPOOL_FULL, headRejection(8 * MIB, none), "the quota of another file is ignored");
        assertNull(headRejection(7 * MIB, none));
        other.close();
        assertNull(headRejection(8 * MIB, none));
    }

    @Test
    void contentLength_aboveSpoolQuota_isAcceptedIfSinksMayTakeTheBody() {
        assertNull(headRejection(100 * MIB, options -> options.decider(part -> PartDecision.to(PartSink.discard()))));
        assertNull(headRejection(100 * MIB, options -> options.decodeTransferEncodings(true)));
        assertNull(headRejection(100 * MIB, options -> options.expandNested(true)));
        assertNull(headRejection(100 * MIB, options -> options.preset(Preset.COMPATIBLE)));
        assertEquals(Reason.SPOOL_FULL, headRejection(100 * MIB, options -> options.preset(Preset.STRICT)));
    }

    @Test
    void form_largerThanQuota_isReceivedBySinks() throws IOException {
        try (SpoolDirectory small =
                SpoolDirectory.builder(root.resolve("small")).maxSpoolBytes(0).open()) {
            FormOptions options = FormOptions.builder(small, budget)
                    .decider(part -> PartDecision.to(PartSink.discard()))
                    .build();
            byte[] body = new Upload().file("f", "f", "x".repeat(4 << 20)).toBytes();
            Forms.of(options)
                    .read(new ByteArrayInputStream(body), announced(body.length), options)
                    .close();
        }
    }

    @Test
    void preambleAndEpilogue_doNotCountAgainstQuota() throws IOException {
        try (SpoolDirectory none =
                SpoolDirectory.builder(root.resolve("none")).maxSpoolBytes(0).open()) {
            String headers = "Content-Disposition: form-data; name=n\r\n";
            String parts =
                    new String(new Upload().part(headers, "v".repeat(6 * 8192)).toBytes(), StandardCharsets.ISO_8859_1);
            byte[] body = ("p".repeat(4000) + "\r\n" + parts + "e".repeat(4000)).getBytes(StandardCharsets.ISO_8859_1);
            long charge = 512 + headers.length() + 2 + 2 + 6 * 8192;
            assertTrue(body.length > charge);
            FormOptions options =
                    FormOptions.builder(none, budget).maxInMemoryBytes(charge).build();
            Forms.of(options)
                    .read(new ByteArrayInputStream(body), announced(body.length), options)
                    .close();
        }
    }

    @Test
    void contentLength_aboveFreeSpace_isRejectedWithoutReading() throws IOException {
        FaultyFileSystem files = new FaultyFileSystem(FileSystems.getDefault());
        try (SpoolDirectory full = SpoolDirectory.builder(files.wrap(root.resolve("full")))
                .unlimitedSpoolBytes()
                .keepFreeBytes(1L << 60)
                .open()) {
            FormOptions options =
                    FormOptions.builder(full, budget).unlimitedBodyBytes().build();
            assertReportedOnce(Reason.DISK_FULL, announced(10 * MIB), options);
            files.failAt(-1);
            PushedForm.create(Upload.BOUNDARY, options, 1000).close();
            assertFalse(files.calls().contains("statfs"), "the free space was queried for a small body");
        }
    }

    private SpoolDirectory.Builder anySpool() {
        return SpoolDirectory.builder(root.resolve("any"));
    }

    @Test
    void quota_notSet_isDerivedFromMaxBodyBytes() throws IOException {
        long gib = 1 << 30;
        try (SpoolDirectory any = anySpool().open()) {
            assertEquals(gib, any.maxSpoolBytes());
            FormOptions.builder(any, budget).build();
            assertEquals(gib, any.maxSpoolBytes());
            FormOptions large =
                    FormOptions.builder(any, budget).maxBodyBytes(1000 * MIB).build();
            assertEquals(16_000 * MIB, any.maxSpoolBytes());
            large.toBuilder().maxBodyBytes(1).build();
            assertEquals(
                    16_000 * MIB,
                    any.maxSpoolBytes(),
                    "the quota has shrunk, although large forms may already be stored");
            large.toBuilder().unlimitedBodyBytes().build();
            assertEquals(Long.MAX_VALUE, any.maxSpoolBytes());
        }
        for (UnaryOperator<SpoolDirectory.Builder> set : List.<UnaryOperator<SpoolDirectory.Builder>>of(
                spool -> spool.maxSpoolBytes(gib), spool -> spool.set(Setting.MAX_SPOOL_BYTES, "1GiB"))) {
            try (SpoolDirectory any = set.apply(anySpool()).open()) {
                FormOptions.builder(any, budget).unlimitedBodyBytes().build();
                assertEquals(gib, any.maxSpoolBytes());
            }
        }
        try (Forms forms = Forms.open(root.resolve("own"), options -> options.maxBodyBytes(2 * gib))) {
            assertEquals(32 * gib, forms.options().spool().maxSpoolBytes());
        }
    }

    @Test
    void largestForm_fitsIntoDerivedQuota() throws IOException {
        try (Forms forms = Forms.open(root.resolve("own"), options -> options.maxBodyBytes(1200 * MIB))) {
            FormOptions options = forms.options();
            FormIntake one = forms.receive(new PushedForm(announced(1200 * MIB)), options);
            FormIntake other = forms.receive(new PushedForm(announced(1200 * MIB)), options);
            assertFalse(one.isOver() || other.isOver());
            one.abort(new IOException("the connection broke"));
            other.abort(new IOException("the connection broke"));
        }
    }
}

package dev.sluice.form;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.Throwing;
import io.netty.buffer.ByteBuf;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** Limits of a form, the destinations of its parts, progress and metrics. */
class LimitsAndDecisionsTest extends SpooledTest {
    private final List<FormSummary> summaries = new ArrayList<>();

    private FormOptions.Builder options() {
        return FormOptions.builder(spool, budget).metrics(summaries::add);
    }

    private static void assertAccepted(Upload upload, FormOptions options) throws IOException {
        upload.read(options).close();
    }

    private static MultipartException assertRejected(Reason reason, Upload upload, FormOptions options) {
        MultipartException failure = assertThrows(MultipartException.class, () -> assertAccepted(upload, options));
        assertEquals(reason, failure.reason());
        assertEquals(413, failure.httpStatus());
        assertTrue(failure.getMessage().contains(" exceeds the limit of "), failure.getMessage());
        return failure;
    }

    @Test
    void maxInMemoryBytes_includesNamesHeadersAndOverhead() throws IOException {
        // 512 for the part, 46 for its header section, 6 for its name, 5 for its content
        Upload upload = new Upload().field("abc", "value");
        long most = 512 + "Content-Disposition: form-data; name=\"abc\"\r\n\r\n".length() + 6 + 5;
        FormOptions.Builder inMemory = FormOptions.inMemory(budget);
        assertAccepted(upload, inMemory.maxInMemoryBytes(most).build());
        assertAccepted(upload, inMemory.maxInMemoryBytes(most + 1).build());
        assertRejected(
                Reason.IN_MEMORY_TOO_LARGE,
                upload,
                inMemory.maxInMemoryBytes(most - 1).build());
        assertAccepted(upload, options().maxInMemoryBytes(most - 1).build()); // moves to a file instead
    }

    @Test
    void headerFields_areChargedWithTheirBytesOnly() throws IOException {
        String fields = "X: y\r\n".repeat(31);
        String headers = "Content-Disposition: form-data; name=\"abc\"; filename=\"de\"\r\n" + fields;
        Upload upload = new Upload().part(headers, "value");
        long charge = 512 + headers.length() + 2 + 2 * ("abc".length() + "de".length()) + "value".length();
        FormOptions.Builder inMemory = FormOptions.inMemory(budget);
        assertAccepted(upload, inMemory.maxInMemoryBytes(charge).build());
        assertRejected(
                Reason.IN_MEMORY_TOO_LARGE,
                upload,
                inMemory.maxInMemoryBytes(charge - 1).build());
    }

    @Test
    void partNotKeptByTheForm_memoryIsReleasedAtItsEnd() throws IOException {
        Upload upload = new Upload().field("abc", "1").field("abc", "2").field("abc", "3");
        long one = 512 + "Content-Disposition: form-data; name=\"abc\"\r\n\r\n".length() + 6;
        List<Supplier<PartDecision>> decisions = List.of(
                PartDecision::skip,
                () -> PartDecision.to(PartSink.discard()),
                () -> PartDecision.peek(1, first -> PartDecision.to(PartSink.discard())));
        for (Supplier<PartDecision> decision : decisions) {
            FormOptions.Builder options = FormOptions.inMemory(budget).decider(part -> decision.get());
            assertAccepted(upload, options.maxInMemoryBytes(one + 1).build()); // one byte for the peek
        }
        FormOptions.Builder skipping = FormOptions.inMemory(budget).decider(part -> PartDecision.skip(400, "no"));
        assertAccepted(upload, skipping.maxInMemoryBytes(3 * one).build()); // the form keeps their heads
        assertRejected(
                Reason.IN_MEMORY_TOO_LARGE,
                upload,
                skipping.maxInMemoryBytes(3 * one - 1).build());
    }

    @Test
    void metricsThatThrow_doNotAffectTheForm() throws IOException {
        FormOptions options = FormOptions.builder(spool, budget)
                .metrics(summary -> {
                    summaries.add(summary);
                    throw new IllegalStateException("broken hook");
                })
                .build();
        List<Throwable> uncaught = new ArrayList<>();
        Thread.currentThread().setUncaughtExceptionHandler((thread, e) -> uncaught.add(e));
        try {
            try (MultipartForm form = new Upload().field("a", "1").read(options)) {
                assertEquals("1", form.text("a"));
            }
            assertEquals(1, summaries.size());
            assertEquals(FormSummary.Outcome.COMPLETED, summaries.get(0).outcome());
            InputStream cut = new ByteArrayInputStream("--x\r\n".getBytes(StandardCharsets.US_ASCII));
            MultipartException failure =
                    assertThrows(MultipartException.class, () -> PushedForm.read(cut, Upload.BOUNDARY, options));
            assertEquals(0, failure.getSuppressed().length);
            PushedForm.create(Upload.BOUNDARY, options).close();
        } finally {
            Thread.currentThread().setUncaughtExceptionHandler(null);
        }
        assertEquals(
                List.of(FormSummary.Outcome.COMPLETED, FormSummary.Outcome.TRUNCATED, FormSummary.Outcome.ABORTED),
                summaries.stream().map(FormSummary::outcome).toList());
        assertEquals(3, uncaught.size());
        assertEquals("broken hook", uncaught.get(0).getMessage());
    }

    @Test
    void decider_choosesForEachPart() throws IOException {
        ByteArrayOutputStream streamed = new ByteArrayOutputStream();
        Upload upload = new Upload()
                .field("a", "1")
                .file("b", "b", "streamed")
                .field("c", "3")
                .file("d", "d", "4")
                .file("e", "e", "5");
        FormOptions options = options()
                .spillThreshold(0)
                .decider(part -> switch (part.name()) {
                    case "a" -> PartDecision.storeInMemory();
                    case "b" -> PartDecision.to(PartSink.to(streamed));
                    case "c" -> PartDecision.skip();
                    case "d" -> PartDecision.skip(415, "no such files");
                    default -> PartDecision.store();
                })
                .build();
        try (MultipartForm form = upload.read(options)) {
            assertEquals(
                    List.of("a", "e"), form.parts().stream().map(FormPart::name).toList());
            assertTrue(form.part("a").isInMemory());
            assertFalse(form.part("e").isInMemory());
            assertEquals("streamed", streamed.toString(StandardCharsets.US_ASCII));
            assertEquals(1, form.skipped().size());
            assertEquals("d", form.skipped().get(0).head().filename());
            assertEquals(415, form.skipped().get(0).httpStatus());
        }
        assertEquals(FormSummary.Outcome.COMPLETED, summaries.get(0).outcome());
        assertEquals(5, summaries.get(0).parts());
        assertEquals(3, summaries.get(0).files());
        assertEquals(1, summaries.get(0).spilledParts());
        assertEquals(1, summaries.get(0).spilledBytes());
    }

    @Test
    void rejectedForm_demandsTheBytesToDiscard() throws IOException {
        byte[] body =
                new Upload().field("a", "1").file("b", "b", "x".repeat(5000)).toBytes();
        FormOptions options = options()
                .maxDrainBytes(4900)
                .decider(part -> part.name().equals("b") ? PartDecision.reject(422, "not now") : PartDecision.store())
                .build();
        int fed = body.length - 4900;
        for (long expected : new long[] {body.length, body.length + 1, -1}) {
            try (PushedForm assembler = PushedForm.create(Upload.BOUNDARY, options, expected)) {
                MultipartException rejected =
                        assertThrows(MultipartException.class, () -> Upload.feed(assembler, body, 0, fed, fed));
                assertEquals(Reason.PART_REFUSED, rejected.reason());
                assertEquals(422, rejected.httpStatus());
                assertEquals(1, rejected.partIndex());
                FormIntake intake = assembler.intake();
                assertEquals(expected == body.length + 1 ? 0 : 4901, intake.demand()); // one more byte, to see the end
                if (intake.demand() > 0) {
                    Upload.feed(assembler, body, fed, body.length, 1000);
                    assertEquals(1, intake.demand());
                    intake.finish();
                }
                assertEquals(expected != body.length + 1, intake.isAtEnd());
            }
        }
        assertEquals(FormSummary.Outcome.REFUSED, summaries.get(0).outcome());
    }

    /** A read for one more byte would block until the client sends it. */
    @Test
    void rejectedForm_ofUnknownLength_withoutBytesToDiscard_demandsNothing() throws IOException {
        byte[] body = new Upload().field("a", "1").field("b", "2").toBytes();
        FormOptions options = options().maxParts(1).maxDrainBytes(0).build();
        for (long expected : new long[] {body.length, -1}) {
            try (PushedForm form = PushedForm.create(Upload.BOUNDARY, options, expected)) {
                assertThrows(MultipartException.class, () -> Upload.feed(form, body, 0, body.length, body.length));
                assertEquals(expected < 0 ? 0 : 1, form.intake().demand());
            }
        }
    }

    @Test
    void completeForm_leavesTheConnectionReusable() throws IOException {
        byte[] body = new Upload().field("a", "1").toBytes();
        try (PushedForm assembler =
                PushedForm.create(Upload.BOUNDARY, options().maxDrainBytes(0).build())) {
            assertFalse(assembler.intake().isAtEnd());
            Upload.feed(assembler, body, 0, body.length, 7);
            assembler.finish().close();
            assertTrue(assembler.intake().isOver() && assembler.intake().isAtEnd());
        }
    }

    @Test
    void peek_decidesByTheFirstBytes_atEverySplit() throws IOException {
        List<byte[]> peeks = new ArrayList<>();
        FormOptions options = options()
                .decider(part -> PartDecision.peek(4, first -> {
                    peeks.add(first);
                    return Arrays.equals(first, new byte[] {'%', 'P', 'D', 'F'})
                            ? PartDecision.storeInMemory()
                            : PartDecision.skip();
                }))
                .build();
        byte[] body = new Upload()
                .file("f", "a", "%PDF-1.7")
                .file("g", "b", "MZ")
                .file("h", "c", "")
                .file("i", "d", "%PDF")
                .toBytes();
        for (int chunk = 1; chunk < 40; chunk++) {
            peeks.clear();
            try (PushedForm assembler = PushedForm.create(Upload.BOUNDARY, options)) {
                Upload.feed(assembler, body, 0, body.length, chunk);
                try (MultipartForm form = assembler.finish()) {
                    assertEquals(
                            List.of("%PDF-1.7", "%PDF"),
                            List.of(
                                    form.parts().get(0).text(),
                                    form.parts().get(1).text()));
                    assertArrayEquals(new byte[] {'M', 'Z'}, peeks.get(1));
                    assertArrayEquals(new byte[0], peeks.get(2));
                }
            }
        }
    }

    @Test
    void peek_thatReturnsAnotherPeek_throws() {
        PartDecision peek = PartDecision.peek(1, first -> PartDecision.peek(1, again -> PartDecision.skip()));
        FormOptions options = options().decider(part -> peek).build();
        assertThrows(
                IllegalStateException.class, () -> new Upload().field("a", "12").read(options));
        assertEquals(FormSummary.Outcome.FAILED, summaries.get(0).outcome());
    }

    /** Feeds a body in chunks of one byte, one per nanosecond, and returns the reported progress. */
    private List<Progress> progressOf(byte[] body, Duration interval) throws IOException {
        List<Progress> reports = new ArrayList<>();
        AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 20);
        FormOptions options =
                options().progress(reports::add, interval).clock(nanos::get).build();
        try (PushedForm assembler = PushedForm.create(Upload.BOUNDARY, options, body.length)) {
            for (int at = 0; at < body.length; at++) {
                Upload.feed(assembler, body, at, at + 1, 1);
                nanos.incrementAndGet();
            }
            assembler.finish().close();
        }
        return reports;
    }

    @Test
    void sink_mayThrowTheSameExceptionFromEachCall() {
        IOException broken = new IOException("broken");
        PartSink sink = new IdleSink() {
            @Override
            public Readiness write(ByteBuf data) throws IOException {
                throw broken;
            }

            @Override
            public Readiness complete() throws IOException {
                throw broken;
            }

            @Override
            public void close() {
                throw Throwing.<RuntimeException>unchecked(broken);
            }
        };
        FormOptions options = options().decider(part -> PartDecision.to(sink)).build();
        assertSame(
                broken,
                assertThrows(
                        IOException.class,
                        () -> new Upload().field("a", "12345").read(options)));
        assertEquals(FormSummary.Outcome.FAILED, summaries.get(0).outcome());
    }

    @Test
    void progress_respectsItsIntervalAndReportsTheEnd() throws IOException {
        byte[] body = new Upload().file("f", "f", "x".repeat(100)).toBytes();
        List<Progress> reports = progressOf(body, Duration.ofNanos(10));
        int last = reports.size() - 1;
        assertEquals(new Progress(body.length, body.length, 0, 100, true, true), reports.get(last));
        assertEquals(new Progress(1, body.length, -1, 0, false, false), reports.get(0));
        assertTrue(reports.stream().allMatch(progress -> progress.expectedBytes() == body.length));
        long before = reports.get(0).bodyBytes() - 10;
        boolean partEnded = false;
        for (Progress progress : reports.subList(0, last)) {
            long expected = progress.partEnded() && !partEnded ? progress.bodyBytes() : before + 10;
            assertEquals(expected, progress.bodyBytes(), reports.toString());
            partEnded |= progress.partEnded();
            before = progress.bodyBytes();
        }
        assertTrue(partEnded);
        assertTrue(body.length - before <= 10);
    }

    @Test
    void progress_reportsTheEndOfEachPart_withALongInterval() throws IOException {
        Upload upload = new Upload();
        for (int size = 0; size < 30; size++) {
            upload.field("a", "v".repeat(size));
        }
        byte[] body = upload.toBytes();
        List<Progress> reports = progressOf(body, Duration.ofDays(1));
        assertEquals(1 + 30 + 1, reports.size(), "reports after the first byte, each part, and the form");
        for (int part = 0; part < 30; part++) {
            Progress progress = reports.get(1 + part);
            assertEquals(part, progress.partIndex());
            assertEquals(part, progress.partBytes());
            assertTrue(progress.partEnded());
            assertFalse(progress.ended());
            assertTrue(progress.bodyBytes() > reports.get(part).bodyBytes());
        }
        List<Progress> inOneChunk = new ArrayList<>();
        upload.read(options().progress(inOneChunk::add, Duration.ofDays(1)).build())
                .close();
        assertEquals(
                reports.subList(1, 31).stream().map(Progress::partBytes).toList(),
                inOneChunk.subList(0, 30).stream().map(Progress::partBytes).toList());
    }

    @Test
    void progress_reportsAPartAsEndedOnlyAtItsEnd() throws IOException {
        byte[] body = new Upload().field("a", "1").field("b", "22").toBytes();
        List<Progress> reports = progressOf(body, Duration.ZERO);
        for (Progress progress : reports) {
            int ends = progress.partIndex() == 0 ? 1 : 2;
            assertEquals(
                    progress.partEnded(),
                    progress.partIndex() >= 0
                            && reports.stream()
                                    .filter(other -> other.partEnded() && other.partIndex() == progress.partIndex())
                                    .anyMatch(other -> other.bodyBytes() <= progress.bodyBytes()),
                    progress.toString());
            assertTrue(!progress.partEnded() || progress.partBytes() == ends, progress.toString());
        }
        assertEquals(
                List.of(-1, 0, 1),
                reports.stream().map(Progress::partIndex).distinct().toList());
    }

    @Test
    void progress_ofABodyWithoutParts_reportsNoPart() throws IOException {
        byte[] body = new Upload().toBytes();
        List<Progress> reports = progressOf(body, Duration.ofDays(1));
        assertEquals(new Progress(body.length, body.length, -1, 0, false, true), reports.get(reports.size() - 1));
        assertEquals(2, reports.size());
    }

    @Test
    void metrics_reportReceivedBytesAndOneEndPerStart() throws IOException {
        List<String> reports = new ArrayList<>();
        FormMetrics metrics = new FormMetrics() {
            @Override
            public void formStarted() {
                reports.add("started");
            }

            @Override
            public void bodyReceived(int bytes) {
                reports.add("received " + bytes);
            }

            @Override
            public void formEnded(FormSummary summary) {
                reports.add("ended " + summary.outcome());
            }
        };
        byte[] body = new Upload().field("a", "1").toBytes();
        FormOptions options = options().metrics(metrics).build();
        try (PushedForm assembler = PushedForm.create(Upload.BOUNDARY, options)) {
            Upload.feed(assembler, body, 0, 10, 7);
            assertEquals(List.of("started", "received 7", "received 3"), reports);
        }
        assertEquals("ended ABORTED", reports.get(reports.size() - 1));
        reports.clear();
        PushedForm.read(new ByteArrayInputStream(body), Upload.BOUNDARY, options)
                .close();
        assertEquals(List.of("started", "received " + body.length, "ended COMPLETED"), reports);
        reports.clear();
        FormOptions noMemory =
                FormOptions.inMemory(MemoryBudget.of(0)).metrics(metrics).build();
        assertEquals(
                Reason.MEMORY_FULL,
                assertThrows(MultipartException.class, () -> PushedForm.create(Upload.BOUNDARY, noMemory))
                        .reason());
        assertEquals(List.of("started", "ended OVERLOADED"), reports);
    }

    @Test
    void metrics_reportOutcomeAndReason() {
        Upload upload = new Upload().file("f", "f", "x");
        assertRejected(Reason.PART_TOO_LARGE, upload, options().maxPartBytes(0).build());
        assertThrows(
                MultipartException.class,
                () -> PushedForm.read(
                        new ByteArrayInputStream(new byte[0]),
                        Upload.BOUNDARY,
                        options().build()));
        assertEquals(FormSummary.Outcome.LIMIT_EXCEEDED, summaries.get(0).outcome());
        assertEquals(Reason.PART_TOO_LARGE, summaries.get(0).reason());
        assertEquals(FormSummary.Outcome.TRUNCATED, summaries.get(1).outcome());
        assertEquals(2, summaries.size());
    }
}

package dev.sluice.form;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.Preset;
import dev.sluice.form.storage.Spool;
import dev.sluice.testkit.LeakCheck;
import dev.sluice.testkit.ProofSize;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CancellationException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Forms that end after any byte, in any way. All buffers, files, descriptors and charged memory are released. */
@ExtendWith(LeakCheck.class)
class AbortMatrixTest {
    /** The distance between the tested positions, in bytes; 1 tests every position. */
    private static final int STEP = ProofSize.of("sluice.abort.step", 3, 1);

    enum Way {
        CLOSE,
        CLOSE_TWICE,
        END_OF_INPUT,
        LIMIT_THEN_CLOSE,
        SINK_ERROR_THEN_CLOSE,
        BUDGET_THEN_CLOSE,
        QUOTA_THEN_CLOSE,
        CONSUMER_THROWS
    }

    @TempDir
    Path root;

    private final MemoryBudget budget = MemoryBudget.of(1 << 20);

    private static byte[] body() {
        return new Upload()
                .field("memory", "small")
                .file("spilled", "s", "0123456789".repeat(8))
                .file("target", "t", "abcdefghij".repeat(3))
                .part(
                        "Content-Disposition: form-data; name=b\r\nContent-Transfer-Encoding: base64\r\n",
                        "QUJDREVGR0hJSktMTU5PUA==")
                .nested(
                        "n",
                        "--y\r\nContent-Disposition: attachment; filename=a\r\n\r\nnested and spilled\r\n"
                                + "--y\r\n\r\nB\r\n--y--")
                .file("peek", "l", "%PDF-1.7 and more")
                .file("sink", "k", "sinkable")
                .toBytes();
    }

    private FormOptions.Builder options(SpoolDirectory spool, MemoryBudget memory, PartSink sink) {
        return FormOptions.builder(spool, memory)
                .preset(Preset.COMPATIBLE)
                .spillThreshold(10)
                .decider(part -> switch (part.name()) {
                    case "target" ->
                        PartDecision.to(
                                PartSink.tee(PartSink.discard(), PartSink.toFile(spool, root.resolve("target"))));
                    case "peek" -> PartDecision.peek(8, first -> PartDecision.store());
                    case "sink" -> PartDecision.to(sink);
                    default -> PartDecision.store();
                });
    }

    private SpoolDirectory open(long maxBytes) throws IOException {
        return SpoolDirectory.builder(root.resolve("spool"))
                .keepFreeBytes(0)
                .maxSpoolBytes(maxBytes)
                .open();
    }

    private void assertNothingIsLeft(SpoolDirectory spool, MemoryBudget memory, int at) throws IOException {
        String context = "at byte " + at;
        Upload.assertNothingIsLeft(spool, memory, context);
        Path target = root.resolve("target");
        if (Files.exists(target)) { // a published file must be complete
            assertEquals("abcdefghij".repeat(3), Files.readString(target), context);
            Files.delete(target);
        }
        assertEquals(List.of(root.resolve("spool")), Upload.list(root), context);
    }

    @Tag("sized")
    @ParameterizedTest
    @EnumSource(Way.class)
    void formEndedAtAnyByte_releasesEverything(Way way) throws IOException {
        byte[] body = body();
        try (SpoolDirectory spool = open(way == Way.QUOTA_THEN_CLOSE ? 2 * Spool.BLOCK : 1 << 20)) {
            for (int at = way.ordinal() % STEP; at <= body.length; at += at < body.length - 12 ? STEP : 1) {
                end(way, spool, body, at, at % 2 == 0 ? 13 : body.length);
                assertNothingIsLeft(spool, budget, at);
            }
        }
    }

    private void end(Way way, SpoolDirectory spool, byte[] body, int at, int chunk) throws IOException {
        FailingSink sink =
                new FailingSink(new IOException("broken"), way == Way.SINK_ERROR_THEN_CLOSE ? at % 9 - 1 : 1000);
        FormOptions.Builder options = options(spool, budget, sink);
        switch (way) {
            case CLOSE, CLOSE_TWICE -> {
                PushedForm assembler = PushedForm.create(Upload.BOUNDARY, options.build());
                Upload.feed(assembler, body, 0, at, chunk);
                assembler.close();
                if (way == Way.CLOSE_TWICE) {
                    assembler.close();
                    Upload.feed(assembler, body, 0, 1, 1); // discarded
                }
            }
            case END_OF_INPUT -> {
                try (PushedForm assembler = PushedForm.create(Upload.BOUNDARY, options.build())) {
                    Upload.feed(assembler, body, 0, at, chunk);
                    if (at >= body.length - 2) {
                        boolean complete = at != body.length - 1; // a CR without its LF may be part of the epilogue
                        finish(assembler, complete);
                    } else {
                        MultipartException cut = assertThrows(MultipartException.class, assembler::finish);
                        assertEquals(MultipartException.Kind.TRUNCATED, cut.kind());
                        assertNothingIsLeft(spool, budget, at); // before close
                    }
                }
            }
            case LIMIT_THEN_CLOSE -> failThenClose(options.maxBodyBytes(at).build(), spool, body, at, chunk);
            case SINK_ERROR_THEN_CLOSE -> {
                failThenClose(options.build(), spool, body, at, chunk);
                assertTrue(sink.isClosed());
            }
            case BUDGET_THEN_CLOSE -> {
                MemoryBudget little = MemoryBudget.of(8192 + 3 * at, 0, 0);
                failThenClose(options(spool, little, sink).build(), spool, body, body.length, chunk);
                assertEquals(0, little.used());
            }
            case QUOTA_THEN_CLOSE -> failThenClose(options.build(), spool, body, at, chunk);
            case CONSUMER_THROWS -> {
                PartDecider broken = part -> {
                    if (part.offset() >= at) {
                        throw new IllegalArgumentException("a bug in the application");
                    }
                    return PartDecision.store();
                };
                failThenClose(options.decider(broken).build(), spool, body, body.length, chunk);
            }
        }
    }

    private static void finish(PushedForm assembler, boolean complete) throws IOException {
        try {
            assembler.finish().close();
        } catch (MultipartException e) {
            assertTrue(!complete, e.getMessage());
        }
    }

    /** Feeds a body that causes a failure, unless the form is completed first. */
    private void failThenClose(FormOptions options, SpoolDirectory spool, byte[] body, int at, int chunk)
            throws IOException {
        try (PushedForm assembler = PushedForm.create(Upload.BOUNDARY, options)) {
            try {
                Upload.feed(assembler, body, 0, body.length, chunk);
                assembler.finish().close();
            } catch (IOException | IllegalArgumentException e) {
                assertNothingIsLeft(spool, options.memory(), at); // before close
                assertSame(e, assertThrows(Exception.class, assembler::finish));
            }
        } catch (MultipartException e) {
            assertEquals(Reason.MEMORY_FULL, e.reason());
        }
    }

    @Test
    void close_oneSinkFails_releasesEverythingElse() throws IOException {
        PartSink stuck = new IdleSink() {
            @Override
            public void close() {
                throw new IllegalStateException("stuck");
            }
        };
        byte[] body = body();
        try (SpoolDirectory spool = open(1 << 20)) {
            PushedForm assembler = PushedForm.create(
                    Upload.BOUNDARY, options(spool, budget, stuck).build());
            Upload.feed(assembler, body, 0, body.length - 12, 1000);
            assembler.close();
            assembler.close();
            Throwable reason =
                    assembler.intake().completion.handle((form, e) -> e).join();
            assertInstanceOf(CancellationException.class, reason);
            assertEquals("stuck", reason.getSuppressed()[0].getMessage());
            assertNothingIsLeft(spool, budget, body.length - 12);
        }
    }
}

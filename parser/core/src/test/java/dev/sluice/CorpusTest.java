package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.sluice.Decoding.Result;
import dev.sluice.testkit.BufferKind;
import dev.sluice.testkit.Corpus;
import dev.sluice.testkit.LeakCheck;
import dev.sluice.testkit.Outcome;
import dev.sluice.testkit.ProofSize;
import dev.sluice.testkit.ReferenceLimits;
import dev.sluice.testkit.ReferenceParser;
import dev.sluice.testkit.Splits;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Bodies from real clients and from the tests of other projects, read by the decoder and the reader, and in every kind of buffer. */
@ExtendWith(LeakCheck.class)
@Tag("sized")
class CorpusTest {
    /** The size in bytes of the largest case of which {@link SplitProofTest} tries all splits. */
    private static final int PROVED = ProofSize.of("sluice.splitProof.largest", 512, 2048);

    /**
     * Cases of up to this number of bytes are split at every byte, larger ones only near their delimiters. If it is 0, each case is split
     * at fifty places.
     */
    private static final int CUT_EVERYWHERE = ProofSize.of("sluice.corpus.cut", 0, 20_000);

    /** In each case, a decoder is closed after every byte up to this number of bytes. */
    private static final int CLOSED = ProofSize.of("sluice.corpus.closed", 128, 2048);

    /** In large cases, a decoder is also closed after each of this many last bytes. */
    private static final int LAST = ProofSize.of("sluice.corpus.last", 32, 2048);

    /** A case with an acceptable Content-Type. */
    private record Run(Corpus.Case source, Preset preset, Boundary boundary, MultipartOptions options) {
        Result decode(Splits.Partition partition, BufferKind kind) {
            return Decoding.decode(boundary, options, partition.chunks(source.body(), kind));
        }

        Result whole() {
            return decode(Splits.whole(source.body().length), BufferKind.HEAP);
        }

        @Override
        public String toString() {
            return source + " " + preset;
        }
    }

    private static List<Run> runs() {
        List<Run> runs = new ArrayList<>();
        for (Corpus.Case source : Corpus.cases()) {
            for (Preset preset : Verdict.ALL) {
                try {
                    Boundary boundary = Boundary.anyMultipart(source.contentType(), preset);
                    runs.add(new Run(
                            source,
                            preset,
                            boundary,
                            MultipartOptions.builder().preset(preset).build()));
                } catch (MultipartException e) {
                    // rejected before the first byte
                }
            }
        }
        return runs;
    }

    @Test
    void everyCase_hasExpectedVerdictInEachPreset() {
        for (Corpus.Case source : Corpus.cases()) {
            for (Preset preset : Verdict.ALL) {
                Outcome reference = ReferenceParser.parse(source.contentType(), source.body(), preset.toString());
                assertNull(
                        source.expected(preset.toString()).mismatch(reference, source.isFormData()),
                        source + " " + preset);
                ReferenceResult.assertSame(
                        reference,
                        source.contentType(),
                        source.body(),
                        ReferenceLimits.DEFAULTS,
                        preset,
                        List.of(Unpooled.wrappedBuffer(source.body())),
                        source.toString());
            }
        }
    }

    @Tag("long")
    @ParameterizedTest
    @EnumSource
    void bufferKind_doesNotChangeResult(BufferKind kind) {
        int turn = kind.ordinal();
        for (Run run : runs()) {
            int size = run.source.body().length;
            // In short builds, the kinds take turns with the presets of each small case.
            if (CLOSED < 2048 && (size > 2 * CLOSED || turn++ % Verdict.ALL.size() != 0)) {
                continue;
            }
            Result whole = run.whole();
            long before = BufferKind.open();
            for (int chunk : Corpus.chunkSizes(size)) {
                Splits.Partition partition = chunk == 0
                        ? Splits.whole(size)
                        : Splits.uniform(size, chunk).withEmptyChunks();
                Decoding.assertSame(whole, run.decode(partition, kind), run, kind, partition);
                assertEquals(before, BufferKind.open(), run + " " + kind + " " + partition);
            }
        }
    }

    @Tag("long")
    @Test
    void largeCases_splitAnywhere_haveSameResult() {
        runs().parallelStream().filter(run -> run.source.body().length > PROVED).forEach(CorpusTest::cutEverywhere);
    }

    private static void cutEverywhere(Run run) {
        int size = run.source.body().length;
        Result whole = run.whole();
        List<Splits.Partition> partitions =
                new ArrayList<>(List.of(Splits.uniform(size, 61), Splits.uniform(size, 1460)));
        if (CUT_EVERYWHERE == 0) {
            for (int cut = 1; cut < size; cut += 1 + size / 50) {
                partitions.add(Splits.at(size, cut));
            }
        } else {
            partitions.addAll(Splits.uniforms(size, 100));
            partitions.addAll(
                    size <= CUT_EVERYWHERE
                            ? Splits.twoWay(size)
                            : Splits.twoWayNear(size, run.boundary.value().length() + 8, delimiters(run)));
        }
        for (Splits.Partition partition : partitions) {
            Decoding.assertSame(whole, run.decode(partition, BufferKind.HEAP), run, partition);
        }
    }

    private static int[] delimiters(Run run) {
        String body = new String(run.source.body(), StandardCharsets.ISO_8859_1);
        String dashBoundary = "--" + run.boundary.value();
        List<Integer> found = new ArrayList<>();
        for (int at = body.indexOf(dashBoundary); at >= 0; at = body.indexOf(dashBoundary, at + 1)) {
            found.add(at);
        }
        return found.stream().mapToInt(at -> at).toArray();
    }

    @Tag("long")
    @Test
    void close_afterAnyByte_releasesBuffers() {
        for (Run run : runs()) {
            byte[] body = run.source.body();
            for (int end = 0; end <= body.length; end++) {
                if (end == CLOSED) {
                    end = Math.max(end, body.length - LAST); // large cases: only the first and the last bytes
                }
                Decoding decoding = new Decoding(run.boundary, run.options);
                decoding.feed(BufferKind.POOLED_DIRECT.wrap(body, 0, end));
                decoding.decoder().close();
                assertEquals(0, BufferKind.open(), run + " closed after " + end);
            }
        }
    }

    @Test
    void close_afterAnyEvent_releasesBuffers() throws IOException {
        for (Run run : runs()) {
            boolean more = true;
            for (int events = 0; more; events++) {
                try (MultipartDecoder decoder = MultipartDecoder.create(run.boundary, run.options)) {
                    decoder.feed(BufferKind.LEAK_AWARE_DIRECT.wrap(run.source.body(), 0, run.source.body().length));
                    for (int i = 0; i < events && more; i++) {
                        more = decoder.next() != MultipartDecoder.Event.NEED_INPUT;
                    }
                } catch (MultipartException e) {
                    more = false;
                }
                assertEquals(0, BufferKind.open(), run + " closed after " + events + " events");
            }
        }
    }

    @Test
    void reader_hasSameResultAsDecoder() throws IOException {
        for (Run run : runs()) {
            Result expected = run.whole();
            byte[] body = run.source.body();
            MultipartOptions options = run.options.toBuilder()
                    .decodeTransferEncodings(false)
                    .build(); // like the decoder, which never decodes them
            try (MultipartReader reader =
                    MultipartReader.create(new ByteArrayInputStream(body), run.boundary, options)) {
                assertReads(expected, reader, run);
            }
            try (MultipartReader reader = MultipartReader.create(
                    Channels.newChannel(new ByteArrayInputStream(body)), run.boundary, options)) {
                assertReads(expected, reader, run);
            }
        }
    }

    private static void assertReads(Result expected, MultipartReader reader, Run run) throws IOException {
        int read = 0;
        try {
            for (MultipartReader.Part part; (part = reader.nextPart()) != null; read++) {
                Decoding.Part wanted = expected.parts().get(read);
                assertEquals(wanted.name(), part.name(), run.toString());
                assertEquals(wanted.filename(), part.filename(), run.toString());
                assertEquals(wanted.contentType(), part.contentType(), run.toString());
                ByteArrayOutputStream body = new ByteArrayOutputStream();
                part.transferTo(Channels.newChannel(body));
                assertEquals(wanted.body(), body.toString(StandardCharsets.ISO_8859_1), run.toString());
            }
            assertNull(expected.failure(), run.toString());
        } catch (MultipartException e) {
            Decoding.Failure failure = new Decoding.Failure(e.reason(), e.offset(), e.partIndex());
            assertEquals(expected.failure(), failure, run.toString());
        }
        long complete =
                expected.parts().stream().filter(Decoding.Part::complete).count();
        assertEquals(complete, read, run.toString());
    }
}

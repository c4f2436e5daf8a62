package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartDecoder.Event;
import dev.sluice.MultipartDecoder.State;
import dev.sluice.testkit.Corpus;
import dev.sluice.testkit.ProofSize;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A proof that the result does not depend on how a body is split, for all partitions.
 *
 * <p>Let D(k) be the state of the decoder and all its output after the first k bytes in one chunk. If feeding the bytes [j, k) in one
 * chunk to a decoder in D(j) gives D(k) for all j &lt; k, then by induction each of the 2^(n-1) partitions of the body ends in D(n).
 * States are compared by {@link StateHash}. {@link StateHashTest} ensures that the hash covers all fields.
 *
 * <p>A failed decoder accepts no more input: if the offending byte is at f, D(k) is D(f) for all k &gt; f. This includes second chunks
 * that begin before this byte and end after it.
 *
 * <p>The compared output of a part is: events with size, offsets and the number of deviations, names, and raw headers. Comparing heads
 * takes long. They are compared if the first split is within the header section, for all chunks from the start (j = 0), and for all
 * chunks to the end of the body (k = n).
 *
 * <p>The mode of the search depends on the number of bytes searched before. Small bodies are therefore searched by grams or by passes
 * over spans only if {@link ForcedSearch} forces the search into this mode. Feeding [j, k) in a forced mode must give the D(k) of the normal
 * search, so that the mode does not matter in any chunk.
 */
@Tag("sized")
class SplitProofTest {
    private static final int LARGEST = ProofSize.of("sluice.splitProof.largest", 512, 2048);
    private static final int LARGEST_HELD = ProofSize.of("sluice.splitProof.largestHeld", 200, 512);
    private static final int LARGEST_LIMITED = ProofSize.of("sluice.splitProof.largestLimited", 200, 300);

    /** The step between the ends of second chunks that are tested. */
    private static final int STRIDE_OF_ENDS = ProofSize.of("sluice.splitProof.ends", 11, 1);

    /**
     * The step between the ends of second chunks in the proofs with limits and with a forced mode of the search. After a failure, the step
     * is the square of this number.
     */
    private static final int STRIDE = ProofSize.of("sluice.splitProof.stride", 23, 1);

    /** The minimum lengths of a delimiter that is searched by grams: in an array, and in memory without passes. */
    private static final int MIN_GRAM_LENGTH = 32;

    private static final int MIN_GRAM_LENGTH_WITHOUT_PASSES = 16;

    /** A kind of memory and a mode of the search. */
    private enum Way {
        NOT_FORCED(false, false, false),
        GRAMS(false, true, true),
        SPANS(false, true, false),
        DIRECT_GRAMS(true, true, true),
        DIRECT_SPANS(true, true, false);

        private final boolean direct;
        private final boolean forced;
        private final boolean grams;

        Way(boolean direct, boolean forced, boolean grams) {
            this.direct = direct;
            this.forced = forced;
            this.grams = grams;
        }

        /** {@return whether the search makes passes over spans in this memory} */
        boolean hasPasses() {
            return !direct || Runtime.version().feature() >= 25;
        }

        /** {@return whether this mode searches for the delimiter of {@code boundary} by grams} */
        boolean usesGrams(Boundary boundary) {
            return grams
                    && boundary.delimiter().length()
                            >= (hasPasses() ? MIN_GRAM_LENGTH : MIN_GRAM_LENGTH_WITHOUT_PASSES);
        }
    }

    @Test
    void smallCases_inAnyPartition_haveSameResult() {
        AtomicLong pairs = new AtomicLong();
        AtomicLong bodies = new AtomicLong();
        Corpus.cases().parallelStream()
                .filter(c -> c.body().length <= LARGEST)
                .flatMap(c -> Stream.of(Preset.STANDARD, Preset.COMPATIBLE, Preset.STRICT)
                        .flatMap(preset -> proof(c.id(), c.contentType(), c.body(), preset)))
                .forEach(proof -> {
                    pairs.addAndGet(proof.run());
                    bodies.incrementAndGet();
                });
        System.out.println("all-pairs split proof: " + bodies + " bodies x presets, " + pairs + " pairs");
        assertTrue(bodies.get() > (LARGEST < 2048 ? 400 : 600), "bodies proved: " + bodies);
    }

    @Test
    void limits_inAnyPartition_haveSameResult() {
        Corpus.cases().parallelStream()
                .filter(c -> c.body().length <= LARGEST_LIMITED)
                .forEach(c ->
                        limits(c.body().length).forEach(limits -> proof(c.id(), c.contentType(), c.body(), limits)));
    }

    @Test
    void searchModes_inAnyPartition_haveSameResult() {
        AtomicLong pairs = new AtomicLong();
        Stream<Runnable> cases = Corpus.cases().stream()
                .filter(c -> c.body().length >= 2 * MIN_GRAM_LENGTH && c.body().length <= LARGEST_HELD)
                .flatMap(c -> Stream.of(Preset.STANDARD, Preset.COMPATIBLE)
                        .flatMap(preset -> proof(c.id(), c.contentType(), c.body(), preset)))
                .flatMap(proof -> Stream.of(Way.GRAMS, Way.DIRECT_GRAMS)
                        .filter(way -> way.usesGrams(proof.boundary))
                        .map(way -> () -> pairs.addAndGet(proof.run(way, STRIDE))));
        Stream<Runnable> made = SearchedBodies.all().stream()
                .flatMap(body -> Stream.of(Preset.STANDARD, Preset.COMPATIBLE)
                        .map(preset -> new Proof(
                                body.name(), body.boundary(), body.bytes(), preset, MultipartOptions.defaults())))
                .flatMap(proof -> Stream.of(Way.GRAMS, Way.SPANS, Way.DIRECT_GRAMS, Way.DIRECT_SPANS)
                        .filter(way -> !way.grams || way.usesGrams(proof.boundary))
                        .map(way -> () -> pairs.addAndGet(proof.run(way, STRIDE))));
        List<Runnable> proofs = Stream.concat(made, cases).toList();
        proofs.parallelStream().forEach(Runnable::run);
        System.out.println("split proof with forced search modes: " + proofs.size() + " bodies x presets x searches, "
                + pairs + " pairs");
        assertTrue(proofs.size() > (LARGEST_HELD < 512 ? 100 : 200), "bodies proved: " + proofs.size());
    }

    /** Shows that forcing a mode has an effect, so that the proof of the search modes covers all of them. */
    @Test
    void forcedSearchModes_areUsed() {
        for (Way way : Way.values()) {
            int with = 0;
            int without = 0;
            for (SearchedBodies.Body body : SearchedBodies.all()) {
                Boundary boundary = Boundary.of(body.boundary().value()); // no grams yet
                if (way.grams && !way.usesGrams(boundary)) {
                    continue;
                }
                Proof proof =
                        new Proof(body.name(), boundary, body.bytes(), Preset.COMPATIBLE, MultipartOptions.defaults());
                for (Proof.Run run : proof.everyCut(way)) {
                    with += run.passesWithCandidate;
                    without += run.passesWithoutCandidate;
                }
                assertEquals(way.grams, ForcedSearch.hasUsedGrams(boundary), () -> way + " " + body.name());
            }
            if (!way.grams) {
                boolean passes = way.forced && way.hasPasses();
                assertEquals(passes, with > 1000, way + ": passes with a candidate: " + with);
                assertEquals(passes, without > 1000, way + ": passes without a candidate: " + without);
            }
        }
    }

    /** Limits that are exceeded at the first bytes, in the middle and at the last byte. */
    private static Stream<MultipartOptions> limits(int size) {
        return Stream.of(
                MultipartOptions.builder().maxPartBytes(0).build(),
                MultipartOptions.builder().maxPartBytes(2).maxParts(1).build(),
                MultipartOptions.builder()
                        .maxBodyBytes(Math.max(0, size - 1))
                        .maxFiles(0)
                        .build(),
                MultipartOptions.builder().maxBodyBytes(size / 2).build(),
                MultipartOptions.builder()
                        .maxHeadersPerPart(1)
                        .maxEpilogueBytes(0)
                        .build(),
                MultipartOptions.builder()
                        .maxHeaderBytesPerPart(40)
                        .maxPreambleBytes(1)
                        .build(),
                MultipartOptions.builder()
                        .maxHeaderBytes(90)
                        .maxEpilogueBytes(1)
                        .build());
    }

    private static void proof(String id, String contentType, byte[] body, MultipartOptions limits) {
        try {
            new Proof(id, Boundary.anyMultipart(contentType, Preset.COMPATIBLE), body, Preset.COMPATIBLE, limits)
                    .run(Way.NOT_FORCED, STRIDE);
        } catch (MultipartException e) {
            assertEquals(-1, e.offset(), "the offset of a rejection before the first byte");
        }
    }

    private static Stream<Proof> proof(String id, String contentType, byte[] body, Preset preset) {
        try {
            Boundary boundary = Boundary.anyMultipart(contentType, preset);
            return preset == Preset.STRICT && isLikeStandard(boundary, body)
                    ? Stream.empty()
                    : Stream.of(new Proof(id, boundary, body, preset, MultipartOptions.defaults()));
        } catch (MultipartException e) {
            return Stream.empty(); // rejected before the first byte
        }
    }

    /**
     * {@return whether STRICT does the same as STANDARD for every byte} An empty list of reports is not sufficient, because STRICT rejects
     * a backslash, which STANDARD does not report.
     */
    private static boolean isLikeStandard(Boundary boundary, byte[] body) {
        MultipartOptions strict =
                MultipartOptions.builder().preset(Preset.STRICT).build();
        Decoding.Result standard = Decoding.decode(boundary, body, MultipartOptions.defaults(), Integer.MAX_VALUE);
        return standard.deviations().isEmpty()
                && standard.equals(Decoding.decode(boundary, body, strict, Integer.MAX_VALUE));
    }

    private record Proof(String id, Boundary boundary, byte[] body, Preset preset, MultipartOptions limits) {
        /** The smallest number of bytes of data for which a pass over a span skips bytes, unless it finds a candidate. */
        private static final int CLEARED = 256 + 74 + 8;

        private MultipartOptions options() {
            return limits.toBuilder()
                    .preset(preset)
                    .allocator(new UnpooledByteBufAllocator(false, true)) // millions of short-lived buffers
                    .build();
        }

        private ByteBuf direct() {
            return new UnpooledByteBufAllocator(true, true)
                    .directBuffer(body.length)
                    .writeBytes(body);
        }

        /** {@return the runs over the whole body in two chunks} */
        List<Run> everyCut(Way way) {
            ByteBuf direct = direct();
            List<Run> runs = IntStream.range(0, body.length)
                    .mapToObj(j -> new Run(options(), way, direct, new long[body.length + 1], j, body.length))
                    .toList();
            direct.release();
            return runs;
        }

        long run() {
            return run(Way.NOT_FORCED, STRIDE_OF_ENDS);
        }

        long run(Way way, int stride) {
            MultipartOptions options = options();
            ByteBuf direct = direct();
            long[] whole = new long[body.length + 1];
            long[] heads = new long[body.length + 1];
            int failedAt = body.length + 1;
            for (int k = 0; k <= body.length; k++) {
                Run run = new Run(options, Way.NOT_FORCED, direct, heads, 0, k);
                whole[k] = run.hash;
                if (failedAt > body.length && run.failed) {
                    failedAt = k;
                }
                if (k > failedAt && whole[k] != whole[failedAt]) {
                    throw wrong(way, "the failure at " + failedAt + " differs from the failure at " + k);
                }
            }
            long pairs = 0;
            for (int k : ends(stride, failedAt)) {
                int last = Math.min(failedAt, k - 1); // a failed decoder takes no more input
                for (int j = way.forced ? 0 : 1; j <= last; j++) {
                    if (new Run(options, way, direct, heads, j, k).hash != whole[k]) {
                        throw wrong(way, "[0," + j + ")[" + j + "," + k + ") differs from [0," + k + ")");
                    }
                    pairs++;
                }
            }
            assertEquals(1, direct.refCnt());
            direct.release();
            return pairs;
        }

        /** {@return the ends of second chunks: in steps, at a failure and one byte after it, and at the end of the body} */
        private int[] ends(int stride, int failedAt) {
            return IntStream.rangeClosed(2, body.length)
                    .filter(k -> (k - 2) % (k > failedAt ? stride * stride : stride) == 0
                            || k == failedAt
                            || k == failedAt + 1
                            || k == body.length)
                    .toArray();
        }

        private AssertionError wrong(Way way, String what) {
            return new AssertionError(id + " " + preset + " " + way + ": " + what);
        }

        /** One decoder fed with one or two chunks. */
        private final class Run {
            private final StateHash output = new StateHash();
            private final Way way;
            private final ByteBuf direct;
            private final long[] heads;
            private final int j;
            private final int k;
            private final MultipartDecoder decoder;
            private final ForcedSearch search;
            private final boolean failed;
            private final long hash;
            private int passesWithCandidate;
            private int passesWithoutCandidate;

            /** @param heads the hash of each head that has been read, at the offset of its part; 0 at all other offsets */
            Run(MultipartOptions options, Way way, ByteBuf direct, long[] heads, int j, int k) {
                this.way = way;
                this.direct = direct;
                this.heads = heads;
                this.j = j;
                this.k = k;
                decoder = MultipartDecoder.create(boundary, options);
                search = ForcedSearch.of(decoder);
                if (j > 0) {
                    feed(0, j);
                }
                feed(j, k);
                failed = decoder.state == State.FAILED;
                hash = output.add(decoder)
                        .add(decoder.offset())
                        .add(decoder.partOffset())
                        .value();
                decoder.close();
            }

            private void feed(int from, int to) {
                decoder.feed(
                        way.direct
                                ? direct.setIndex(from, to).retain()
                                : Unpooled.wrappedBuffer(body, from, to - from));
                try {
                    for (Event event; (event = next()) != Event.NEED_INPUT; ) {
                        if (event == Event.DATA) {
                            checkData(decoder.data());
                        } else {
                            addPart(event);
                        }
                    }
                } catch (MultipartException e) {
                    // part of the state
                }
            }

            private Event next() throws MultipartException {
                if (!way.forced) {
                    return decoder.next();
                }
                search.force(way.grams);
                Event event = decoder.next();
                if (search.hasPassFoundCandidate()) {
                    passesWithCandidate++;
                } else if (event == Event.DATA && decoder.data().readableBytes() >= CLEARED && way.hasPasses()) {
                    passesWithoutCandidate++;
                }
                return event;
            }

            private static long text(String text) {
                return text == null ? -1 : text.hashCode();
            }

            private void addPart(Event event) {
                output.add(event.ordinal())
                        .add(decoder.offset())
                        .add(decoder.partSize())
                        .add(decoder.partIndex())
                        .add(decoder.partOffset())
                        .add(decoder.deviationCount());
                output.add(text(decoder.name())).add(text(decoder.filename()));
                ByteBuf section = decoder.rawHeaders();
                int size = section.readableBytes();
                output.add(size);
                int end = (int) decoder.partOffset();
                int from = section.arrayOffset() + section.readerIndex();
                if (!Arrays.equals(section.array(), from, from + size, body, end - size, end)) {
                    throw wrong(way, "the headers before " + end + " differ from the body");
                }
                boolean cutInSection = event == Event.PART_BEGIN && end - size < j && j < end;
                if (cutInSection || j == 0 || k == body.length) {
                    checkHead();
                }
            }

            private void checkHead() {
                PartHead head = decoder.head();
                StateHash hash = new StateHash()
                        .add(head.index())
                        .add(head.offset())
                        .add(head.headerBytes())
                        .add(text(head.name()))
                        .add(text(head.filename()))
                        .add(text(head.plainFilename()))
                        .add(text(head.extendedFilename()))
                        .add(text(head.contentType()))
                        .add(text(head.transferEncoding()))
                        .add(text(decoder.contentType()));
                for (PartHead.Header field : head.headers()) {
                    hash.add(text(field.name())).add(text(field.value()));
                }
                int at = (int) decoder.partOffset();
                if (heads[at] == 0) {
                    heads[at] = hash.value();
                } else if (heads[at] != hash.value()) {
                    throw wrong(
                            way, "the head of the part at " + at + " differs for [0," + j + ")[" + j + "," + k + ")");
                }
            }

            /**
             * The data of a part is a range of the body without gaps. The offset and the size of the part, which belong
             * to the state, therefore determine the delivered bytes.
             */
            private void checkData(ByteBuf bytes) {
                int at = (int) (decoder.partOffset() + decoder.partSize()) - bytes.readableBytes();
                boolean ofBody = bytes.hasArray() && bytes.array() == body;
                boolean right = ofBody
                        ? bytes.arrayOffset() + bytes.readerIndex() == at
                        : ByteBufUtil.equals(bytes, bytes.readerIndex(), direct, at, bytes.readableBytes());
                if (!right) {
                    throw wrong(way, "the data at " + at + " differs from the body");
                }
            }
        }
    }
}

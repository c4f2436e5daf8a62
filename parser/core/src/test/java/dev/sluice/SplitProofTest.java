package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartDecoder.Event;
import dev.sluice.MultipartDecoder.State;
import dev.sluice.testkit.Corpus;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Proves that the result does not depend on how a body is cut, for all partitions of it.
 *
 * <p>Let D(k) be the state of the decoder, and all it has handed out, after the first k octets in one chunk. If for all j &lt; k feeding
 * the octets [j, k) in one chunk to a decoder in D(j) gives D(k), then by induction each of the 2^(n-1) partitions of the body ends in D(n).
 * States are compared by {@link StateHash}; {@link StateHashTest} sees to it that no field is forgotten.
 */
class SplitProofTest {
    private static final int LARGEST = Integer.getInteger("sluice.splitProof.largest", 2048);

    @Test
    void everyPartitionOfEverySmallCaseGivesTheSameResultInEveryPreset() {
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
        assertTrue(bodies.get() > 600, "bodies proved: " + bodies);
    }

    @Test
    void everyPartitionGivesTheSameResultAtEveryLimit() {
        Corpus.cases().parallelStream()
                .filter(c -> c.body().length <= 300)
                .forEach(c ->
                        limits(c.body().length).forEach(limits -> proof(c.id(), c.contentType(), c.body(), limits)));
    }

    /** Limits that are hit at the first octets, in the middle and at the last octet. */
    private static Stream<Limits> limits(int size) {
        return Stream.of(
                Limits.builder().maxPartBytes(0).build(),
                Limits.builder().maxPartBytes(2).maxParts(1).build(),
                Limits.builder().maxBodyBytes(Math.max(0, size - 1)).maxFiles(0).build(),
                Limits.builder().maxBodyBytes(size / 2).build(),
                Limits.builder().maxHeadersPerPart(1).maxEpilogueBytes(0).build(),
                Limits.builder().maxHeaderBytesPerPart(40).maxPreambleBytes(1).build(),
                Limits.builder().maxHeaderBytes(90).maxEpilogueBytes(1).build());
    }

    private static void proof(String id, String contentType, byte[] body, Limits limits) {
        try {
            new Proof(id, Boundary.from(contentType, Preset.COMPATIBLE), body, Preset.COMPATIBLE, limits).run();
        } catch (MultipartException e) {
            assertEquals(-1, e.offset(), "refused before the first octet");
        }
    }

    private static Stream<Proof> proof(String id, String contentType, byte[] body, Preset preset) {
        try {
            Boundary boundary = Boundary.from(contentType, preset);
            return preset == Preset.STRICT && isStandard(boundary, body)
                    ? Stream.empty() // takes the way of STANDARD, octet by octet
                    : Stream.of(new Proof(id, boundary, body, preset, Limits.defaults()));
        } catch (MultipartException e) {
            return Stream.empty(); // refused before the first octet
        }
    }

    private static boolean isStandard(Boundary boundary, byte[] body) {
        Decoding.Result standard = Decoding.decode(boundary, body, MultipartOptions.defaults(), Integer.MAX_VALUE);
        return standard.deviations().isEmpty();
    }

    private record Proof(String id, Boundary boundary, byte[] body, Preset preset, Limits limits) {
        long run() {
            MultipartOptions options = MultipartOptions.builder()
                    .preset(preset)
                    .limits(limits)
                    .allocator(new UnpooledByteBufAllocator(false)) // millions of short lives
                    .build();
            long[] whole = new long[body.length + 1];
            int failedAt = body.length + 1;
            for (int k = 0; k <= body.length; k++) {
                Run run = new Run(options, 0, k);
                whole[k] = run.hash;
                if (failedAt > body.length && run.failed) {
                    failedAt = k;
                }
                if (k > failedAt && whole[k] != whole[failedAt]) {
                    throw new AssertionError(
                            id + " " + preset + ": the failure at " + failedAt + " is another one at " + k);
                }
            }
            long pairs = 0;
            int last = Math.min(failedAt, body.length); // a failed decoder takes no more input
            for (int k = 2; k <= last; k++) {
                for (int j = 1; j < k; j++) {
                    if (new Run(options, j, k).hash != whole[k]) {
                        throw new AssertionError(
                                id + " " + preset + ": [0," + j + ")[" + j + "," + k + ") differs from [0," + k + ")");
                    }
                    pairs++;
                }
            }
            return pairs;
        }

        /** One decoder fed with one or two chunks. */
        private final class Run {
            private final StateHash handedOut = new StateHash();
            private final MultipartDecoder decoder;
            private final boolean failed;
            private final long hash;

            Run(MultipartOptions options, int j, int k) {
                decoder = MultipartDecoder.create(boundary, options);
                if (j > 0) {
                    feed(0, j);
                }
                feed(j, k);
                failed = decoder.state() == State.FAILED;
                hash = decoder.addTo(handedOut).value();
                decoder.close();
            }

            private void feed(int from, int to) {
                decoder.feed(Unpooled.wrappedBuffer(body, from, to - from));
                try {
                    for (Event event; (event = decoder.next()) != Event.NEED_INPUT; ) {
                        if (event == Event.DATA) {
                            checkData(decoder.data());
                        } else {
                            handedOut
                                    .add(event.ordinal())
                                    .add(decoder.partSize())
                                    .add(decoder.partIndex())
                                    .add(decoder.partOffset());
                            handedOut.add(text(decoder.name())).add(text(decoder.filename()));
                        }
                    }
                } catch (MultipartException e) {
                    // part of the state
                }
            }

            private long text(String text) {
                return text == null ? -1 : text.hashCode();
            }

            /**
             * The data of a part is the octets of the body from where it starts, without a gap: what has been handed out follows from the
             * part's offset and size, which are part of the state.
             */
            private void checkData(ByteBuf octets) {
                int at = (int) (decoder.partOffset() + decoder.partSize()) - octets.readableBytes();
                boolean ofBody = octets.hasArray() && octets.array() == body;
                boolean right = ofBody
                        ? octets.arrayOffset() + octets.readerIndex() == at
                        : octets.equals(Unpooled.wrappedBuffer(body, at, octets.readableBytes()));
                if (!right) {
                    throw new AssertionError(id + " " + preset + ": other data at " + at + " than the body has there");
                }
            }
        }
    }
}

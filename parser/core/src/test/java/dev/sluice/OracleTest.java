package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.testkit.Outcome;
import dev.sluice.testkit.ProofSize;
import dev.sluice.testkit.ReferenceParser;
import dev.sluice.testkit.Soup;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Compares the decoder with the reference parser: parts, data, deviations, error and offset, for generated bodies with
 * random splits.
 */
@Tag("sized")
class OracleTest {
    private static final long BODIES = ProofSize.of("sluice.oracle.bodies", 50_000, 1_000_000);
    private static final long SEED = Long.getLong("sluice.oracle.seed", 20_261_120L);

    @Test
    void generatedBodies_haveTheResultOfTheReferenceParser() {
        AtomicLong accepted = new AtomicLong();
        LongStream.range(0, BODIES).parallel().forEach(i -> {
            long seed = SEED + i;
            Preset preset = Verdict.ALL.get((int) (i % 3));
            if (check(seed, preset)) {
                accepted.incrementAndGet();
            }
        });
        System.out.println("oracle: " + BODIES + " bodies from seed " + SEED + ", " + accepted + " accepted");
        assertTrue(accepted.get() > BODIES / 10, "accepted only " + accepted);
    }

    private static boolean check(long seed, Preset preset) {
        Soup.Body soup = Soup.body(seed);
        List<ByteBuf> chunks = chunks(soup.bytes(), new SplittableRandom(seed));
        Outcome outcome = ReferenceParser.parse(soup.contentType(), soup.bytes(), preset.toString(), soup.limits());
        Decoding.Result result = ReferenceResult.assertSame(
                outcome, soup.contentType(), soup.bytes(), soup.limits(), preset, chunks, "seed " + seed);
        return result.failure() == null;
    }

    private static List<ByteBuf> chunks(byte[] body, SplittableRandom random) {
        int largest = 1 + random.nextInt(1 + random.nextInt(body.length + 1));
        List<ByteBuf> chunks = new ArrayList<>();
        for (int from = 0; from < body.length; ) {
            int size = Math.min(body.length - from, 1 + random.nextInt(largest));
            chunks.add(Unpooled.wrappedBuffer(body, from, size));
            from += size;
        }
        return chunks;
    }
}

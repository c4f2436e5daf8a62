package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.testkit.Outcome;
import dev.sluice.testkit.ProofSize;
import dev.sluice.testkit.ReferenceLimits;
import dev.sluice.testkit.ReferenceParser;
import dev.sluice.testkit.Soup;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Compares the decoder with the reference parser: parts, data, deviations, error and offset, for generated bodies with random
 * splits, and for short header values in one chunk.
 */
@Tag("sized")
class OracleTest {
    private static final long BODIES = ProofSize.of("sluice.oracle.bodies", 50_000, 1_000_000);
    /** The maximum length of the strings that are tried, in symbols. */
    private static final int MOST_SYMBOLS = ProofSize.of("sluice.oracle.symbols", 3, 4);

    /** The symbols that have a meaning in each header. */
    private static final List<String> SYMBOLS =
            List.of(";", "=", "\"", "\\", " ", "\t", "a", "*", "'", ",", "\u00e9", "\u0001");

    private static final long SEED = Long.getLong("sluice.oracle.seed", 20_261_120L);

    @Test
    void generatedBodies_giveTheSameResultAsTheReferenceParser() {
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

    /** Tries all strings of up to {@link #MOST_SYMBOLS} symbols in three places of a Content-Disposition. */
    @Test
    void shortContentDispositions_giveTheSameResultAsTheReferenceParser() {
        checkAll(strings("name", "filename", "%", "\r\n ")
                .flatMap(text -> Stream.of(
                        "form-data" + text, "form-data; name=" + text, "form-data; name=\"" + text + "\"; filename=b"))
                .map(value -> "--x\r\nContent-Disposition: " + value + "\r\n\r\nb\r\n--x--")
                .map(body -> new Case("multipart/form-data; boundary=x", Decoding.bytes(body))));
    }

    /** Tries all strings of up to {@link #MOST_SYMBOLS} symbols in three places of a Content-Type. */
    @Test
    void shortContentTypes_giveTheSameResultAsTheReferenceParser() {
        byte[] body = Decoding.bytes("--a\r\nContent-Disposition: form-data; name=a\r\n\r\nb\r\n--a--");
        checkAll(strings("boundary", "BOUNDARY=a", "charset", "/")
                .flatMap(text -> Stream.of(
                        "multipart/form-data" + text,
                        "multipart/form-data; boundary=" + text,
                        "multipart/form-data; boundary=a" + text))
                .map(type -> new Case(type, body)));
    }

    private record Case(String contentType, byte[] body) {}

    private static Stream<String> strings(String... ofThisHeader) {
        List<String> symbols =
                Stream.concat(SYMBOLS.stream(), Stream.of(ofThisHeader)).toList();
        List<String> all = new ArrayList<>(List.of(""));
        int from = 0;
        for (int length = 1; length <= MOST_SYMBOLS; length++) {
            int to = all.size();
            for (String start : List.copyOf(all.subList(from, to))) {
                symbols.forEach(symbol -> all.add(start + symbol));
            }
            from = to;
        }
        return all.stream();
    }

    private static void checkAll(Stream<Case> cases) {
        cases.parallel()
                .forEach(each -> Verdict.ALL.forEach(preset -> {
                    Outcome outcome = ReferenceParser.parse(
                            each.contentType(), each.body(), preset.toString(), ReferenceLimits.DEFAULTS);
                    List<ByteBuf> chunks = List.of(Unpooled.wrappedBuffer(each.body()));
                    ReferenceResult.assertSame(
                            outcome,
                            each.contentType(),
                            each.body(),
                            ReferenceLimits.DEFAULTS,
                            preset,
                            chunks,
                            "short string");
                }));
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

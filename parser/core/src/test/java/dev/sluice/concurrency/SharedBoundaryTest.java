package dev.sluice.concurrency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.Boundary;
import dev.sluice.ForcedSearch;
import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartException;
import dev.sluice.buffer.Delimiter;
import dev.sluice.buffer.SharedTables;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import org.jetbrains.lincheck.Lincheck;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Several decoders on separate threads share one boundary. */
@Tag("sized")
class SharedBoundaryTest {
    private static final String VALUE = "a-boundary-that-decoders-share";
    private static final int ROUNDS = 20_000;
    private static final int SCHEDULES = 60;

    /**
     * The number of content bytes in the first chunk. The search creates its tables, which the boundary keeps, after 16 KiB. Only 10
     * bytes of the first chunk are left then. These are too few to search with the tables, so the second chunk creates them.
     */
    private static final int LONG = 16 * 1024 + 10;

    private static final String REST = "y".repeat(300);

    private static final byte[] FIRST = ascii(part("x".repeat(LONG)));
    private static final byte[] SECOND =
            ascii(REST + "\r\n" + part(REST) + "\r\n" + part(REST) + "\r\n--" + VALUE + "--\r\n");

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static String part(String content) {
        return "--" + VALUE + "\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n" + content;
    }

    /** {@return a decoder that will create the tables in the next chunk} */
    private static MultipartDecoder decoder(Boundary boundary) throws MultipartException {
        MultipartDecoder decoder = MultipartDecoder.create(boundary);
        decoder.feed(Unpooled.wrappedBuffer(FIRST));
        while (decoder.next() != MultipartDecoder.Event.NEED_INPUT) {
            // events of the first part
        }
        return decoder;
    }

    /** {@return the number of bytes of each part in the second chunk} */
    private static List<Long> sizes(MultipartDecoder decoder) throws MultipartException {
        List<Long> sizes = new ArrayList<>();
        long size = 0;
        decoder.feed(Unpooled.wrappedBuffer(SECOND));
        for (MultipartDecoder.Event event = decoder.next();
                event != MultipartDecoder.Event.END;
                event = decoder.next()) {
            switch (event) {
                case DATA -> size += decoder.data().readableBytes();
                case PART_END -> {
                    sizes.add(size);
                    size = 0;
                }
                case NEED_INPUT -> decoder.finish();
                default -> {}
            }
        }
        return sizes;
    }

    @Test
    void decoders_sharingNewBoundary_findAllParts() throws Exception {
        long rest = REST.length();
        List<Long> expected = List.of(rest, rest, rest);
        try (Race race = new Race(2)) {
            for (int round = 0; round < Race.times(ROUNDS); round++) {
                Boundary boundary = Boundary.of(VALUE);
                try (MultipartDecoder one = decoder(boundary);
                        MultipartDecoder two = decoder(boundary)) {
                    assertFalse(ForcedSearch.hasUsedGrams(boundary), "the tables existed before the race");
                    assertEquals(List.of(expected, expected), race.run(() -> sizes(one), () -> sizes(two)));
                    assertTrue(ForcedSearch.hasUsedGrams(boundary), "the race did not create the tables");
                }
            }
        }
    }

    /**
     * No thread sees incomplete tables, in any schedule. {@code SharedTypesTest} checks that the field that publishes them preserves the
     * order of writes.
     */
    @Test
    void tables_createdByAnotherThread_areComplete() {
        int[] filled = SharedTables.grams(Delimiter.of(ascii(VALUE)));
        Lincheck.runConcurrentTest(Race.times(SCHEDULES), () -> {
            Delimiter delimiter = Delimiter.of(ascii(VALUE));
            Callable<Void> runner = () -> {
                if (!Arrays.equals(filled, SharedTables.grams(delimiter))) {
                    throw new AssertionError("tables that are not filled");
                }
                return null;
            };
            Race.explore(runner, runner);
        });
    }
}

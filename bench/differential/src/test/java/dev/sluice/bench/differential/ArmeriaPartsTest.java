package dev.sluice.bench.differential;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.linecorp.armeria.common.HttpData;
import com.linecorp.armeria.common.multipart.Multipart;
import com.linecorp.armeria.common.stream.StreamMessage;
import dev.sluice.bench.peer.Body;
import dev.sluice.bench.peer.Tally;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

/** Checks that errors at splits are caused by Armeria itself and not by the way the benchmark calls it. */
class ArmeriaPartsTest {
    @Test
    void armeria_ownThreads_giveSameResultForEverySplit() {
        Sample sample = new Sample(
                Sample.Origin.CRAFTED,
                "multipart/form-data; boundary=x",
                ("--x\r\nContent-Disposition: form-data; name=a\r\n\r\none\r\n"
                                + "--x\r\nContent-Disposition: form-data; name=b\r\n\r\ntwo\r\n--x--\r\n")
                        .getBytes(StandardCharsets.US_ASCII));
        assertTrue(aggregated(sample.whole("x")).accepts());
        for (int cut = 1; cut < sample.bytes().length; cut++) {
            Reading expected = aggregated(sample.cut("x", cut));
            Reading actual = Contender.ARMERIA.read(sample.cut("x", cut));
            assertEquals(expected.accepts(), actual.accepts(), "cut at " + cut);
            assertTrue(!expected.accepts() || expected.sameParts(actual), "cut at " + cut);
        }
    }

    private static Reading aggregated(Body body) {
        HttpData[] chunks = body.cut(0).stream()
                .map(slice -> Arrays.copyOfRange(slice.array(), slice.offset(), slice.offset() + slice.length()))
                .map(HttpData::wrap)
                .toArray(HttpData[]::new);
        try {
            List<Tally.Part> parts =
                    Multipart.from(body.boundary(), StreamMessage.of(chunks)).aggregate().join().bodyParts().stream()
                            .map(part -> new Tally.Part(
                                    part.name(), part.filename(), part.content().array()))
                            .toList();
            return new Reading(parts, null);
        } catch (CompletionException e) {
            return new Reading(List.of(), e.getMessage());
        }
    }
}

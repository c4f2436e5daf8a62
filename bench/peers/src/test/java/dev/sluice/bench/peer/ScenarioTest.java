package dev.sluice.bench.peer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ScenarioTest {
    @ParameterizedTest
    @EnumSource(
            value = Scenario.class,
            names = {"FORM", "NETTY_HIGH_LF", "JUNK"})
    void body_isReproducibleInEveryCut(Scenario scenario) throws IOException {
        byte[] whole = scenario.body().stream(Integer.MAX_VALUE).readAllBytes();
        assertEquals(scenario.body().size(), whole.length);
        for (int chunk : new int[] {0, 17, 1000}) {
            assertArrayEquals(whole, scenario.body().stream(chunk).readAllBytes());
        }
    }

    @Test
    void expectedParts_matchTheContent() {
        long checksum = 0;
        for (int i = 0; i < 100; i++) {
            CRC32 crc = new CRC32();
            crc.update("value-%03d-abcdef".formatted(i).getBytes(StandardCharsets.US_ASCII));
            checksum += crc.getValue();
        }
        Truth truth = Scenario.FIELDS_100.body().truth();
        assertEquals(new Truth(100, 1600, checksum, 900, truth.names()), truth);
    }

    @Test
    void cut_equalTinyChunks_shareMemory() {
        Body body = Scenario.RANDOM_64K.body();
        for (int chunk : new int[] {1, 17, 64}) {
            assertTrue(new HashSet<>(body.cut(chunk)).size() <= 256, "chunks of " + chunk);
        }
        assertEquals(
                Scenario.FORM.body().size(),
                Scenario.FORM.body().cut(1).stream().mapToLong(Slice::length).sum());
    }

    @Test
    void stream_readEndsWithChunk() {
        Body.ChunkedStream stream = Scenario.FORM.body().stream(100);
        assertEquals(100, stream.read(new byte[4096], 0, 4096));
        assertEquals(100, stream.read(new byte[4096], 0, 4096));
        stream.rewind();
        assertEquals('-', stream.read());
        assertEquals(99, stream.available());
    }

    @Test
    void hostileBodies_containNoInnerDelimiter() throws IOException {
        for (Scenario scenario : EnumSet.range(Scenario.ALL_CR, Scenario.SKIP_TABLE)) {
            Body body = scenario.body();
            String text = new String(body.stream(Integer.MAX_VALUE).readAllBytes(), StandardCharsets.ISO_8859_1);
            String delimiter = "\r\n--" + body.boundary();
            int first = text.indexOf(delimiter);
            assertTrue(text.startsWith("--", first + delimiter.length()), scenario + " must end at its only delimiter");
        }
    }
}

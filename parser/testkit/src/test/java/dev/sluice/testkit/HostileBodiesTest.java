package dev.sluice.testkit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class HostileBodiesTest {
    @Test
    void bodies_areValid_withUnchangedData() {
        for (String preset : new String[] {"STANDARD", "STRICT"}) {
            for (HostileBodies.Body body : HostileBodies.all(3000)) {
                Outcome outcome = ReferenceParser.parse(body.contentType(), body.bytes(), preset);
                if (preset.equals("STRICT") && body.name().contains(" bare ")) { // delimiters after a bare CR or LF
                    assertEquals("MALFORMED_DELIMITER", outcome.verdict(), body.name());
                    continue;
                }
                assertEquals("ok", outcome.verdict(), body.name());
                assertEquals(1, outcome.parts().size(), body.name());
                assertEquals(body.dataOffset(), outcome.parts().get(0).bodyOffset());
                assertArrayEquals(
                        HostileBodies.data(body), outcome.parts().get(0).body(), body.name());
            }
        }
    }

    @Test
    void bodies_haveRequestedSize() {
        for (HostileBodies.Body body : HostileBodies.all(3000)) {
            assertTrue(body.dataSize() > 2900 && body.dataSize() <= 3000, body + " has " + body.dataSize());
        }
    }

    @Test
    void places_areDelimiterEdges() {
        for (HostileBodies.Body body : HostileBodies.all(100)) {
            String text = new String(body.bytes(), StandardCharsets.ISO_8859_1);
            int[] places = body.places();
            assertEquals(text.indexOf("Content-Disposition"), places[1], body.name());
            assertEquals(text.indexOf("\r\n\r\n") + 4, places[2], body.name());
            assertEquals(text.lastIndexOf("\r\n--" + body.boundary() + "--\r\n"), places[3], body.name());
            assertEquals(text.length(), places[5], body.name());
        }
    }
}

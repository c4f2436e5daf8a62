package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.Decoding.Result;
import java.util.List;
import org.junit.jupiter.api.Test;

class MultipartDecoderTest {
    private static final String CD = "Content-Disposition: form-data; name=\"a\"\r\n";

    private static String part(String body) {
        return "--x\r\n" + CD + "\r\n" + body;
    }

    @Test
    void aFormOfTwoPartsIsTheSameAtEveryChunkSize() {
        String body = part("one\r\n-") + "\r\n--x\r\n"
                + "Content-Disposition: form-data; name=\"f\"; filename=\"t.bin\"\r\nContent-Type: text/plain\r\n\r\n"
                + "\r\r\n--\r\n--y\r\n--" + "\r\n--x--\r\n";
        Result whole = Decoding.decode(body, Preset.STANDARD);
        assertEquals(List.of(), whole.reasons());
        assertEquals(2, whole.parts().size());
        assertEquals("one\r\n-", whole.parts().get(0).body());
        assertEquals("\r\r\n--\r\n--y\r\n--", whole.parts().get(1).body());
        assertEquals("t.bin", whole.parts().get(1).filename());
        assertEquals("text/plain", whole.parts().get(1).contentType());
        for (int size = 1; size < body.length(); size++) {
            Decoding.assertSame(whole, Decoding.decode(body, MultipartOptions.defaults(), size), "chunks of " + size);
        }
    }
}

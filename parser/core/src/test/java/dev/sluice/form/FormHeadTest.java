package dev.sluice.form;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.sluice.MultipartException;
import dev.sluice.Preset;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The request headers that a form accepts or rejects. */
class FormHeadTest {
    private static final String TYPE = "multipart/form-data; boundary=x";

    @Test
    void severalContentTypes_orContentEncoding_areRejected() throws Exception {
        for (String coding : new String[] {null, "identity", " Identity "}) {
            FormHead head = new FormHead(List.of(TYPE), coding, -7, false, null);
            assertEquals("x", head.boundary(Preset.STANDARD).value());
            assertEquals(-1, head.contentLength());
        }
        assertRejected(400, new FormHead(List.of(TYPE, TYPE), null, 1, false, null));
        assertRejected(415, new FormHead(List.of(TYPE), "gzip", 1, false, null));
        assertRejected(415, new FormHead(List.of(TYPE), "identity, br", 1, false, null));
        assertRejected(415, FormHead.of(null));
    }

    @Test
    void headers_areReadByName() {
        Map<String, List<String>> headers = Map.of(
                "Content-Type", List.of(TYPE, TYPE),
                "Content-Encoding", List.of("gzip", "br"),
                "Content-Length", List.of("12"),
                "Expect", List.of("100-Continue"));
        assertEquals(
                new FormHead(List.of(TYPE, TYPE), "gzip, br", 12, true, "10.0.0.1"),
                FormHead.of(headers::get, "10.0.0.1"));
        assertEquals(new FormHead(null, -1, false), FormHead.of(name -> List.of(), null));
        assertEquals(FormHead.of(TYPE), FormHead.of(Map.of("Content-Type", List.of(TYPE))::get, null));
        for (List<String> lengths : List.of(List.of("-1"), List.of("1x"), List.of("1", "1"), List.of("9".repeat(20)))) {
            FormHead head = FormHead.of(name -> name.equals("Content-Length") ? lengths : List.of(), null);
            assertEquals(-1, head.contentLength());
        }
    }

    private static void assertRejected(int status, FormHead head) {
        MultipartException rejected = assertThrows(MultipartException.class, () -> head.boundary(Preset.COMPATIBLE));
        assertEquals(status, rejected.httpStatus(), rejected.getMessage());
    }
}

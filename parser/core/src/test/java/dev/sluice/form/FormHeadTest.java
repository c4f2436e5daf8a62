package dev.sluice.form;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.sluice.MultipartException;
import dev.sluice.Preset;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The request headers that a form accepts or rejects. */
class FormHeadTest {
    private static final String TYPE = "multipart/form-data; boundary=x";

    @Test
    void severalTypes_orAnEncoding_areRejected() throws Exception {
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

    private static void assertRejected(int status, FormHead head) {
        MultipartException rejected = assertThrows(MultipartException.class, () -> head.boundary(Preset.COMPATIBLE));
        assertEquals(status, rejected.httpStatus(), rejected.getMessage());
    }
}

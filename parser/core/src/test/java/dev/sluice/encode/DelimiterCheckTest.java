package dev.sluice.encode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.buffer.Delimiter;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DelimiterCheckTest {
    private static final int SIZE = 400;

    private static final String LONG = "uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu";

    private final Random random = new Random(1);
    private String boundary;

    private DelimiterCheck check(String kind) {
        boundary = kind.equals("random") ? RandomBoundary.next() : kind;
        DelimiterCheck check = new DelimiterCheck(Delimiter.of(boundary.getBytes(StandardCharsets.US_ASCII)));
        check.begin();
        return check;
    }

    /** {@return content with {@code text} at {@code index}} */
    private byte[] content(String text, int index, boolean similar) {
        byte[] content = new byte[SIZE];
        random.nextBytes(content);
        if (similar) {
            Arrays.fill(content, (byte) 'u');
        }
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(bytes, 0, content, index, bytes.length);
        return content;
    }

    private static boolean isIn(DelimiterCheck check, byte[] content, int cut) {
        boolean first = check.isIn(Unpooled.wrappedBuffer(content, 0, cut));
        ByteBuf rest = Unpooled.directBuffer().writeBytes(content).skipBytes(cut);
        try {
            return first || check.isIn(rest);
        } finally {
            rest.release();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"random", "x", "----WebKitFormBoundary7MA4YWxkTrZu0gW", LONG, LONG + "u"})
    void delimiter_isFoundAtEveryIndex_ifSplitAnywhere(String kind) {
        for (String lineEnd : new String[] {"\r\n", "\n", "\r"}) {
            for (int index = 0; index <= SIZE - 70; index += 3) {
                for (int cut = 0; cut <= SIZE; cut += 7) {
                    DelimiterCheck check = check(kind);
                    byte[] content = content(lineEnd + "--" + boundary, index, cut % 2 == 0);
                    assertTrue(isIn(check, content, cut), "at " + index + ", split at " + cut + ": " + boundary);
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"random", "----WebKitFormBoundary7MA4YWxkTrZu0gW"})
    void similarContent_isNoDelimiter(String kind) {
        for (int cut = 0; cut <= SIZE; cut++) {
            DelimiterCheck check = check(kind);
            String similar = "\r\n--" + boundary.substring(1) + boundary.charAt(0);
            if (!similar.endsWith(boundary)) {
                assertFalse(isIn(check, content(similar, cut % 300, cut % 2 == 0), cut));
            }
        }
    }

    @Test
    void delimiter_inSeveralPieces_isFound() {
        DelimiterCheck check = check("random");
        byte[] content = content("\r\n--" + boundary, 200, false);
        ByteBuf pieces = Unpooled.wrappedBuffer(
                Unpooled.wrappedBuffer(content, 0, 230), Unpooled.wrappedBuffer(content, 230, SIZE - 230));
        assertTrue(check.isIn(pieces));
        assertEquals(1, pieces.refCnt());
        pieces.release();
    }
}

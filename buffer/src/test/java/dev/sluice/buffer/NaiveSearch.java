package dev.sluice.buffer;

import java.nio.charset.StandardCharsets;

/**
 * The search as its documentation says it, one byte after the other, without any care for speed: the twin to compare
 * with.
 */
final class NaiveSearch {
    private final byte[] text;
    private final boolean acceptBareLf;
    int matched;
    int first;
    int falseFrom;
    int falseTo;

    NaiveSearch(byte[] boundary, boolean acceptBareLf) {
        this.text =
                ("\r\n--" + new String(boundary, StandardCharsets.ISO_8859_1)).getBytes(StandardCharsets.ISO_8859_1);
        this.acceptBareLf = acceptBareLf;
    }

    int find(byte[] body, int from, int to) {
        for (int start = from; start < to; start++) {
            for (int head = 0; head <= (acceptBareLf ? 1 : 0); head++) {
                int same = same(body, start, to, head);
                if (same > 0 && (head + same == text.length || start + same == to)) {
                    matched = head + same;
                    first = head;
                    return start;
                }
            }
        }
        return to;
    }

    int resume(byte[] body, int from, int to) {
        for (int i = from; i < to; i++) {
            if (body[i] != text[matched]) {
                falseFrom = first;
                falseTo = matched;
                matched = 0;
                first = 0;
                return i;
            }
            if (++matched == text.length) {
                return i + 1;
            }
        }
        return to;
    }

    boolean isComplete() {
        return matched == text.length;
    }

    private int same(byte[] body, int start, int to, int head) {
        int same = 0;
        while (start + same < to && head + same < text.length && body[start + same] == text[head + same]) {
            same++;
        }
        return same;
    }
}

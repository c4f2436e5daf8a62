package dev.sluice.testkit;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Bodies with the boundary {@code x} for the test of one limit, and the expected result of the body that exceeds {@link
 * #LIMIT} by one. Each API is tested with the same cases.
 *
 * @param setting the name of the setting, as in its setter
 * @param file whether the parts have a file name
 * @param text whether the limit applies only to parts that are read into memory as text
 * @param body creates a body; the argument is the size or number to which the limit applies, from {@link #LIMIT} - 1 to {@link #LIMIT} + 1
 * @param reason the name of the library's reason for rejecting the body that exceeds the limit; null if the limit does not apply to it
 * @param offset the offset of the offending byte
 * @param part the index of the offending part, -1 outside of parts
 */
public record LimitCase(
        String setting,
        boolean file,
        boolean text,
        IntFunction<byte[]> body,
        @Nullable String reason,
        long offset,
        int part) {

    public static final int LIMIT = 200;

    public String contentType() {
        return "multipart/form-data; boundary=x";
    }

    /** {@return all limits, each for parts with and without a file name} */
    public static List<LimitCase> all() {
        List<LimitCase> cases = new ArrayList<>();
        for (boolean file : new boolean[] {false, true}) {
            Writer writer = new Writer(file, cases);
            writer.sizes();
            writer.counts();
            writer.headers();
            writer.outside();
        }
        return List.copyOf(cases);
    }

    @Override
    public String toString() {
        return setting + (file ? " of files" : " of fields");
    }

    /** Builds the cases for one kind of part. */
    private static final class Writer {
        private static final String CLOSE = "\r\n--x--";

        private final boolean file;
        private final List<LimitCase> cases;
        private final String disposition;
        private final String head;

        Writer(boolean file, List<LimitCase> cases) {
            this.file = file;
            this.cases = cases;
            this.disposition = "Content-Disposition: form-data; name=\"a\"" + (file ? "; filename=\"f\"" : "") + "\r\n";
            this.head = "--x\r\n" + disposition + "\r\n";
        }

        private void add(String setting, IntFunction<String> body, @Nullable String reason, long offset, int part) {
            IntFunction<byte[]> bytes = used -> body.apply(used).getBytes(StandardCharsets.US_ASCII);
            cases.add(new LimitCase(setting, file, setting.equals("maxFieldBytes"), bytes, reason, offset, part));
        }

        void sizes() {
            add(
                    "maxBodyBytes",
                    used -> head + "v".repeat(used - head.length() - CLOSE.length()) + CLOSE,
                    "BODY_TOO_LARGE",
                    LIMIT,
                    0);
            add(
                    "maxPartBytes",
                    used -> head + "\r\n" + head + "v".repeat(used) + CLOSE,
                    "PART_TOO_LARGE",
                    2 * head.length() + 2 + LIMIT,
                    1);
            add("maxFieldBytes", used -> head + "v".repeat(used) + CLOSE, "FIELD_TOO_LARGE", head.length() + LIMIT, 0);
        }

        void counts() {
            add(
                    "maxParts",
                    used -> (head + "v\r\n").repeat(used) + "--x--",
                    "TOO_MANY_PARTS",
                    LIMIT * (head.length() + 3L) + "--x\r".length(),
                    LIMIT);
            add(
                    "maxFiles",
                    used -> (head + "v\r\n").repeat(used) + "--x--",
                    file ? "TOO_MANY_FILES" : null,
                    LIMIT * (head.length() + 3L) + "--x\r\nContent-Disposition: ".length(),
                    LIMIT);
            add(
                    "maxHeadersPerPart",
                    used -> "--x\r\n" + disposition + "X:\r\n".repeat(used - 1) + "\r\nv" + CLOSE,
                    "TOO_MANY_HEADERS",
                    5 + disposition.length() + 4L * (LIMIT - 1),
                    0);
        }

        void headers() {
            add(
                    "maxHeaderBytesPerPart",
                    used -> "--x\r\n" + section(used) + "v" + CLOSE,
                    "HEADER_SECTION_TOO_LARGE",
                    5 + LIMIT,
                    0);
            int first = disposition.length() + 2;
            add(
                    "maxHeaderBytes",
                    used -> head + "v\r\n--x\r\n" + section(used - first) + "v" + CLOSE,
                    "HEADERS_TOO_LARGE",
                    head.length() + 3 + 5 + LIMIT - first,
                    1);
        }

        /** {@return a header section of the given size in bytes} */
        private String section(int size) {
            return disposition + "X:" + "v".repeat(size - disposition.length() - 6) + "\r\n\r\n";
        }

        void outside() {
            add(
                    "maxPreambleBytes",
                    used -> "p".repeat(used) + "\r\n" + head + "v" + CLOSE,
                    "PREAMBLE_TOO_LARGE",
                    LIMIT,
                    -1);
            add(
                    "maxEpilogueBytes",
                    used -> head + "v" + CLOSE + "\r\n" + "e".repeat(used),
                    "EPILOGUE_TOO_LARGE",
                    head.length() + 1 + CLOSE.length() + 2 + LIMIT,
                    -1);
        }
    }
}

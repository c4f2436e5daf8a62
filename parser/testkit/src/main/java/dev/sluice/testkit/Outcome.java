package dev.sluice.testkit;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The result of parsing a body with the reference parser.
 *
 * @param preset the preset whose rules were applied
 * @param parts the complete parts, in order
 * @param partial the part that was incomplete when the error occurred, with the bytes that certainly belong to it.
 *     Null without an error, or if the error is not in the body of a part
 * @param deviations the reported deviations, in order; never truncated
 * @param silent the deviations accepted without a report, in order
 * @param bodySize the size of the whole body in bytes
 * @param error the rejection, or null
 */
public record Outcome(
        String preset,
        List<Part> parts,
        @Nullable Part partial,
        List<Deviation> deviations,
        List<Deviation> silent,
        long bodySize,
        @Nullable Error error) {

    /**
     * A header field.
     *
     * @param name the name as sent
     * @param rawValue the bytes of the value without blanks at both ends, each fold replaced by one space
     */
    public record Header(String name, byte[] rawValue) {
        /** {@return the value decoded as UTF-8, with U+FFFD for invalid bytes} */
        public String value() {
            return new String(rawValue, StandardCharsets.UTF_8);
        }

        @Override
        public String toString() {
            return name + ": " + value();
        }
    }

    /**
     * A body part. If the rules for form-data do not apply, name, file name and their bytes are null
     * unless the part has a well-formed Content-Disposition.
     *
     * @param index the 0-based index
     * @param headers the header fields, in order
     * @param name the name; null if absent, empty if empty
     * @param filename the file name; null if absent, empty if empty; the decoded value of {@code filename*} if present
     * @param rawName the bytes of the name after backslash unescaping
     * @param rawFilename the bytes of the file name after backslash unescaping, or after percent-decoding for {@code
     *     filename*}
     * @param contentType the value of the Content-Type header, or null
     * @param bodyOffset the offset of the part's body in the multipart body
     * @param body the bytes of the part
     */
    public record Part(
            int index,
            List<Header> headers,
            @Nullable String name,
            @Nullable String filename,
            byte @Nullable [] rawName,
            byte @Nullable [] rawFilename,
            @Nullable String contentType,
            int bodyOffset,
            byte[] body) {

        public String text() {
            return new String(body, StandardCharsets.UTF_8);
        }

        private String describe() {
            return index + " " + name + "|" + filename + "|" + contentType + "|" + bodyOffset + "|" + body.length + "|"
                    + headers;
        }

        @Override
        public String toString() {
            return "Part[" + describe() + "]";
        }
    }

    /**
     * An accepted deviation.
     *
     * @param kind the name of the constant of the library's enum
     * @param part the index of the part, -1 outside of parts
     * @param offset the offset that a rejection would report, -1 in the {@code Content-Type}
     */
    public record Deviation(String kind, int part, long offset) {}

    /**
     * A rejection.
     *
     * @param reason the name of the constant of the library's enum
     * @param offset the offset of the offending byte, -1 in the {@code Content-Type}
     * @param part the index of the part being read, -1 outside of parts
     */
    public record Error(String reason, long offset, int part) {}

    public boolean isAccepted() {
        return error == null;
    }

    /** {@return the reason of the error, or {@code "ok"}} */
    public String verdict() {
        return error == null ? "ok" : error.reason();
    }
}

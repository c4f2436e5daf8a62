package dev.sluice.testkit;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a body means to the reference parser.
 *
 * @param preset whose rules were used
 * @param parts those that were complete at the end or before the error, in order
 * @param partial the part whose header section was complete and sound but whose body was not when the error came,
 *     with as much of its body as is certainly data; null without error, and where no part was open
 * @param deviations reported, in the order in which they were met; never cut short
 * @param silent accepted without a report, in the order in which they were met
 * @param bodySize size of the whole body in bytes
 * @param error the refusal, or null
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
     * @param name as sent
     * @param rawValue without blanks at both ends, each fold one space
     */
    public record Header(String name, byte[] rawValue) {
        /** {@return the value read as UTF-8, U+FFFD for what is not} */
        public String value() {
            return new String(rawValue, StandardCharsets.UTF_8);
        }

        @Override
        public String toString() {
            return name + ": " + value();
        }
    }

    /**
     * A body part. Name, file name and their bytes are null where the form-data rules do not apply.
     *
     * @param index from 0
     * @param headers in order
     * @param name null where absent, empty where empty
     * @param filename null where absent, empty where empty; of {@code filename*} the decoded value
     * @param rawName bytes after backslash unescaping
     * @param rawFilename bytes after backslash unescaping; of {@code filename*} after percent-decoding
     * @param contentType value of the field, or null
     * @param bodyOffset where the part's body starts in the multipart body
     * @param body its bytes
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

        /** {@return the body read as UTF-8} */
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
     * @param kind name of the constant of the library's enum
     * @param part index of the part, -1 outside of parts
     * @param offset where its refusal would be, -1 in the {@code Content-Type}
     */
    public record Deviation(String kind, int part, long offset) {}

    /**
     * A refusal.
     *
     * @param reason name of the constant of the library's enum
     * @param offset of the offending byte, -1 in the {@code Content-Type}
     * @param part index of the part being read, -1 outside of parts
     */
    public record Error(String reason, long offset, int part) {}

    /** {@return whether the body is accepted} */
    public boolean isAccepted() {
        return error == null;
    }

    /** {@return the reason of the error, or {@code "ok"}} */
    public String verdict() {
        return error == null ? "ok" : error.reason();
    }
}

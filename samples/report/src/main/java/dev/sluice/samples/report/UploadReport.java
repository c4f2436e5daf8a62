package dev.sluice.samples.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.sluice.PartHead;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The response to a successful {@code POST /upload}.
 *
 * @param parts all parts, in order
 * @param deviations the accepted deviations that the preset reports
 * @param bodySize the size of the multipart body, in bytes
 * @param millis the time from the request head until the last part was in place, in milliseconds
 * @param error always null; the response to a rejected upload contains only an error
 */
public record UploadReport(
        List<Part> parts,
        List<InspectionReport.Deviation> deviations,
        long bodySize,
        long millis,
        @Nullable ErrorResponse error) {

    /**
     * A part.
     *
     * @param filename the file name as the client sent it; null for a form field
     * @param size the size of the content, in bytes
     * @param sha256 the SHA-256 of the content, in lower-case hexadecimal
     * @param storedAs the file name in the upload directory, or the key of the object; null for a form field and for an
     *     empty file input
     * @param value the text of a form field of up to 1 KiB; null for a longer field and for a file
     * @param millis the time from the part's header section until its last byte was written, in milliseconds
     * @param mebibytesPerSecond the average rate over {@code millis}, in units of 2^20 bytes per second; null if {@code
     *     millis} is less than 1
     * @param etag the ETag of the object; absent unless the part was stored as an object
     * @param crc32 the CRC-32 that the store computed for the object, in base64; absent unless the part was stored as
     *     an object
     */
    public record Part(
            int index,
            @Nullable String name,
            @Nullable String filename,
            @Nullable String contentType,
            long size,
            String sha256,
            @Nullable String storedAs,
            @Nullable String value,
            double millis,
            @Nullable Double mebibytesPerSecond,

            @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable
            String etag,

            @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable
            String crc32) {

        /** {@return a part that is not an object, with its rate computed from size and time} */
        public static Part of(
                PartHead head,
                long size,
                String sha256,
                @Nullable String storedAs,
                @Nullable String value,
                double millis) {
            Double rate = millis < 1 ? null : Math.round(size / millis / (1 << 20) * 100_000) / 100.0;
            return new Part(
                    head.index(),
                    head.name(),
                    head.filename(),
                    head.contentType(),
                    size,
                    sha256,
                    storedAs,
                    value,
                    millis,
                    rate,
                    null,
                    null);
        }

        /** {@return this part, stored as an object} */
        public Part inStore(String key, String otherEtag, String otherCrc32) {
            return new Part(
                    index,
                    name,
                    filename,
                    contentType,
                    size,
                    sha256,
                    key,
                    value,
                    millis,
                    mebibytesPerSecond,
                    otherEtag,
                    otherCrc32);
        }
    }
}

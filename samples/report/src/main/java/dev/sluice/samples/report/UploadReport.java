package dev.sluice.samples.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.sluice.PartHead;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a successful {@code POST /upload}.
 *
 * @param parts all parts, in order
 * @param deviations the accepted deviations that the preset reports
 * @param bodySize of the multipart body in bytes
 * @param millis from the request head to the last rename
 * @param error always null; the answer to a rejected upload contains only an error
 */
public record UploadReport(
        List<Part> parts,
        List<InspectionReport.Deviation> deviations,
        long bodySize,
        long millis,
        @Nullable ErrorAnswer error) {

    /**
     * A part.
     *
     * @param filename as the client sent it; null for a form field
     * @param size in bytes
     * @param sha256 in lower-case hexadecimal
     * @param storedAs the file name in the upload directory, or the key of the object; null for a form field and for an
     *     empty file input
     * @param value text of a form field of up to 1 KiB; null for a longer field and for a file
     * @param millis from the part's header section to its last byte on disk
     * @param mebibytesPerSecond 2^20 bytes per second over that time; null if it is shorter than a millisecond
     * @param etag of the object; absent for a file
     * @param crc32 of the object in base64, as computed by the store; absent for a file
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

        /** {@return a part of a form} */
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

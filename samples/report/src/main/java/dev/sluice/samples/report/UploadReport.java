package dev.sluice.samples.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.sluice.PartHead;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a good {@code POST /upload}.
 *
 * @param parts all of them, in order
 * @param deviations those that were accepted and are to be reported
 * @param bodySize of the multipart body in bytes
 * @param millis from the head of the request to the last rename
 * @param error always null; a refused upload answers only with an error
 */
public record UploadReport(
        List<Part> parts,
        List<InspectionReport.Deviation> deviations,
        long bodySize,
        long millis,
        @Nullable ErrorAnswer error) {

    /**
     * One part.
     *
     * @param filename as the client sent it; null for a form field
     * @param size in bytes
     * @param sha256 in lower-case hexadecimal
     * @param storedAs the name of the file in the upload directory, or the key of the object; null for a form field and for a file input left
     * empty
     * @param value text of a form field of up to 1 KiB; null for a longer one and for a file
     * @param millis from the part's header section to its last byte on disk
     * @param megabytesPerSecond 10^6 bytes per second over that time; null where it is shorter than a millisecond
     * @param etag of the object that it is, whose key is {@code storedAs}; absent where it is a file
     * @param crc32 of that object, in base64, as the store has it; absent where it is a file
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
            @Nullable Double megabytesPerSecond,

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
            Double rate = millis < 1 ? null : Math.round(size / millis / 10) / 100.0;
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

        /** {@return this part, as an object of a store} */
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
                    megabytesPerSecond,
                    otherEtag,
                    otherCrc32);
        }
    }
}

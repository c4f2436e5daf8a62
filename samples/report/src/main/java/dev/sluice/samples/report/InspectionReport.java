package dev.sluice.samples.report;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import dev.sluice.PartHead;
import dev.sluice.ReportedDeviation;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A description of a multipart body: the JSON of {@code inspect --json} and of {@code POST /inspect}.
 *
 * @param parts the complete parts
 * @param deviations the accepted deviations that the preset reports
 * @param bodySize the size of the body in bytes; with an error, the number of bytes before the offending one
 * @param error null for a valid body
 */
@JsonPropertyOrder({"parts", "deviations", "bodySize", "error"})
public record InspectionReport(
        List<Part> parts,
        List<Deviation> deviations,
        long bodySize,
        @Nullable ErrorResponse error) {

    /**
     * A part.
     *
     * @param headers the name and the value of each header field, in order
     * @param offset the offset of the first byte of its body
     * @param size the size of its body, in bytes
     * @param sha256 the SHA-256 of its body, in lower-case hexadecimal
     */
    @JsonPropertyOrder({"index", "name", "filename", "contentType", "headers", "offset", "size", "sha256"})
    public record Part(
            int index,
            @Nullable String name,
            @Nullable String filename,
            @Nullable String contentType,
            List<List<String>> headers,
            long offset,
            long size,
            String sha256) {

        public static Part of(PartHead head, long size, String sha256) {
            List<List<String>> headers = head.headers().stream()
                    .map(header -> List.of(header.name(), header.value()))
                    .toList();
            return new Part(
                    head.index(),
                    head.name(),
                    head.filename(),
                    head.contentType(),
                    headers,
                    head.offset(),
                    size,
                    sha256);
        }
    }

    /** A deviation; {@code part} and {@code offset} are -1 if it is in the {@code Content-Type}. */
    @JsonPropertyOrder({"kind", "part", "offset"})
    public record Deviation(String kind, int part, long offset) {
        public static List<Deviation> of(List<ReportedDeviation> reported) {
            return reported.stream()
                    .map(deviation -> new Deviation(deviation.kind().name(), deviation.partIndex(), deviation.offset()))
                    .toList();
        }
    }
}

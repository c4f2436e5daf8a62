package dev.sluice;

import dev.sluice.testkit.Outcome;
import dev.sluice.testkit.ReferenceLimits;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** What the reference parser says, in the words of {@link Decoding.Result}. */
final class ReferenceResult {
    private static final int REPORTED = 100;

    private ReferenceResult() {}

    static Decoding.Result of(Outcome outcome, long decodedSize) {
        List<Decoding.Part> parts = new ArrayList<>();
        outcome.parts().forEach(part -> parts.add(part(part, true)));
        if (outcome.partial() != null) {
            parts.add(part(outcome.partial(), false));
        }
        List<ReportedDeviation> deviations = outcome.deviations().stream()
                .limit(REPORTED)
                .map(deviation -> new ReportedDeviation(
                        Deviation.valueOf(deviation.kind()), deviation.part(), deviation.offset()))
                .toList();
        Outcome.Error error = outcome.error();
        Decoding.Failure failure = error == null
                ? null
                : new Decoding.Failure(MultipartException.Reason.valueOf(error.reason()), error.offset(), error.part());
        return new Decoding.Result(parts, deviations, error == null ? outcome.bodySize() : decodedSize, failure);
    }

    static Limits limits(ReferenceLimits limits) {
        return Limits.builder()
                .maxBodyBytes(limits.maxBodyBytes())
                .maxPartBytes(limits.maxPartBytes())
                .maxParts(limits.maxParts())
                .maxFiles(limits.maxFiles())
                .maxHeadersPerPart(limits.maxHeadersPerPart())
                .maxHeaderBytesPerPart(limits.maxHeaderBytesPerPart())
                .maxHeaderBytes(limits.maxHeaderBytes())
                .maxPreambleBytes(limits.maxPreambleBytes())
                .maxEpilogueBytes(limits.maxEpilogueBytes())
                .build();
    }

    private static Decoding.Part part(Outcome.Part part, boolean complete) {
        return new Decoding.Part(
                part.index(),
                part.headers().stream()
                        .map(header -> new PartHeaders.Header(header.name(), header.value()))
                        .toList(),
                part.name(),
                part.filename(),
                part.contentType(),
                part.bodyOffset(),
                new String(part.body(), StandardCharsets.ISO_8859_1),
                complete);
    }
}

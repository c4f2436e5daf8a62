package dev.sluice.form.assembly;

import dev.sluice.Boundary;
import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartDecoder.Event;
import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.MultipartOptions;
import dev.sluice.PartHead;
import dev.sluice.ReportedDeviation;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A {@code multipart/mixed} body in a form field (RFC 2388 section 4.2), one level deep. Its parts have the name of the field. */
final class NestedBody {
    private final PartHead outer;
    private final long maxHeaderBytes;
    final MultipartDecoder decoder;

    private NestedBody(PartHead outer, long maxHeaderBytes, MultipartDecoder decoder) {
        this.outer = outer;
        this.maxHeaderBytes = maxHeaderBytes;
        this.decoder = decoder;
    }

    /**
     * {@return the nested body of {@code part}, or null if it is an ordinary part}
     *
     * <p>A part with a file name is always a file, so it is never expanded.
     *
     * @param counts the parts of the form so far, without {@code part}
     */
    static @Nullable NestedBody of(PartHead part, FormLimits counts) throws MultipartException {
        String type = part.contentType();
        if (part.filename() != null || type == null || !"multipart/mixed".equals(part.mediaType()) || isEncoded(part)) {
            return null;
        }
        MultipartOptions remaining = counts.remaining(part);
        try {
            Boundary boundary = Boundary.anyMultipart(type, remaining.preset());
            return new NestedBody(part, counts.options.maxHeaderBytes(), MultipartDecoder.create(boundary, remaining));
        } catch (MultipartException e) {
            throw within(part, e);
        }
    }

    private static boolean isEncoded(PartHead part) {
        String encoding = part.transferEncoding();
        return encoding != null && Stream.of("7bit", "8bit", "binary").noneMatch(encoding::equalsIgnoreCase);
    }

    Event next() throws MultipartException {
        try {
            return decoder.next();
        } catch (MultipartException e) {
            boolean isRest = e.reason() == Reason.HEADERS_TOO_LARGE; // the decoder has only the rest of this limit
            throw within(outer, isRest ? e.toBuilder().limit(maxHeaderBytes).build() : e);
        }
    }

    private static MultipartException within(PartHead outer, MultipartException e) {
        return e.toBuilder()
                .within("a nested body")
                .part(outer.index(), outer.name())
                .at(outer.offset() + Math.max(e.offset(), 0))
                .build();
    }

    PartHead head() {
        return decoder.head().within(outer);
    }

    /** {@return the deviations, with offsets in the outer body} */
    List<ReportedDeviation> deviations() {
        return decoder.deviations().stream()
                .map(each ->
                        new ReportedDeviation(each.kind(), outer.index(), outer.offset() + Math.max(each.offset(), 0)))
                .toList();
    }
}

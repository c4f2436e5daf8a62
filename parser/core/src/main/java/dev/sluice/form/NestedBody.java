package dev.sluice.form;

import dev.sluice.Boundary;
import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartDecoder.Event;
import dev.sluice.MultipartException;
import dev.sluice.MultipartOptions;
import dev.sluice.PartHead;
import dev.sluice.ReportedDeviation;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A {@code multipart/mixed} inside of a form field, one level deep (RFC 2388 section 4.2): its parts take the outer name. */
final class NestedBody {
    private final PartHead outer;
    final MultipartDecoder decoder;

    private NestedBody(PartHead outer, MultipartDecoder decoder) {
        this.outer = outer;
        this.decoder = decoder;
    }

    /**
     * {@return the nested body that {@code part} announces, or null where it is an ordinary part. A part with a file
     * name is a file, whatever its type}
     */
    static @Nullable NestedBody of(PartHead part, MultipartOptions left) throws MultipartException {
        String type = part.contentType();
        if (part.filename() != null || type == null || !"multipart/mixed".equals(part.mediaType()) || isEncoded(part)) {
            return null;
        }
        try {
            return new NestedBody(part, MultipartDecoder.create(Boundary.anyMultipart(type, left.preset()), left));
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
            throw within(outer, e);
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

    /** {@return the oddities met, as seen from the outer body} */
    List<ReportedDeviation> deviations() {
        return decoder.deviations().stream()
                .map(met ->
                        new ReportedDeviation(met.kind(), outer.index(), outer.offset() + Math.max(met.offset(), 0)))
                .toList();
    }
}

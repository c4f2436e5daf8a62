package dev.sluice.form;

import dev.sluice.Boundary;
import dev.sluice.ContentDisposition;
import dev.sluice.Limits;
import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartDecoder.Event;
import dev.sluice.MultipartException;
import dev.sluice.PartHeaders;
import dev.sluice.ReportedDeviation;
import io.netty.buffer.ByteBuf;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A {@code multipart/mixed} inside of a form field, one level deep (RFC 2388 section 4.2): its parts take the outer
 * name.
 */
final class NestedBody implements AutoCloseable {
    private final PartHead outer;
    private final MultipartDecoder decoder;

    private NestedBody(PartHead outer, MultipartDecoder decoder) {
        this.outer = outer;
        this.decoder = decoder;
    }

    /**
     * {@return the nested body that {@code part} announces, or null where it is an ordinary part. A part with a file
     * name is a file, whatever its type}
     */
    static @Nullable NestedBody of(PartHead part, FormOptions options, Limits left) throws MultipartException {
        String type = part.contentType();
        if (part.filename() != null || type == null || !isMixed(type) || isEncoded(part.headers())) {
            return null;
        }
        try {
            Boundary boundary = Boundary.from(type, options.multipart().preset());
            return new NestedBody(
                    part,
                    MultipartDecoder.create(
                            boundary,
                            options.multipart().toBuilder().limits(left).build()));
        } catch (MultipartException e) {
            throw MultipartException.of(e.reason(), part.offset(), part.index(), "of a nested body: " + e.getMessage());
        }
    }

    private static boolean isMixed(String type) {
        int end = type.indexOf(';');
        String name = end < 0 ? type : type.substring(0, end);
        return name.strip().toLowerCase(Locale.ROOT).equals("multipart/mixed");
    }

    private static boolean isEncoded(PartHeaders headers) {
        String encoding = headers.first("Content-Transfer-Encoding");
        return encoding != null && !List.of("7bit", "8bit", "binary").contains(encoding.toLowerCase(Locale.ROOT));
    }

    /**
     * Takes some of the outer part.
     *
     * @param data <em>transferred</em>
     */
    void feed(ByteBuf data) {
        decoder.feed(data);
    }

    void finish() {
        decoder.finish();
    }

    Event next() throws MultipartException {
        try {
            return decoder.next();
        } catch (MultipartException e) {
            throw MultipartException.of(
                    e.reason(),
                    outer.offset() + Math.max(e.offset(), 0),
                    outer.index(),
                    "in a nested body: " + e.getMessage());
        }
    }

    ByteBuf data() {
        return decoder.data();
    }

    int headerBytes() {
        return decoder.rawHeaders().readableBytes();
    }

    PartHead head() {
        PartHeaders headers = decoder.headers();
        ContentDisposition disposition = headers.contentDisposition();
        String filename = disposition == null ? null : disposition.filename();
        return new PartHead(outer.index(), outer.offset() + decoder.partOffset(), outer.name(), filename, headers);
    }

    /** {@return the oddities met, as seen from the outer body} */
    List<ReportedDeviation> deviations() {
        return decoder.deviations().stream()
                .map(met ->
                        new ReportedDeviation(met.kind(), outer.index(), outer.offset() + Math.max(met.offset(), 0)))
                .toList();
    }

    @Override
    public void close() {
        decoder.close();
    }
}

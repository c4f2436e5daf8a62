package dev.sluice.samples.gateway;

import dev.sluice.PartHead;
import dev.sluice.form.OutgoingForm;
import dev.sluice.form.PartDecision;
import dev.sluice.form.PartSink;
import dev.sluice.tika.MediaTypes;
import java.io.IOException;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The rules for parts.
 *
 * @param fields the names of text fields that are forwarded
 * @param files the names of file inputs that are forwarded
 * @param stripped the names of parts that are removed
 * @param types the media types of files that are forwarded, as detected from their first bytes
 * @param maxFieldBytes the largest size of a field, in bytes
 * @param maxFileBytes the largest size of a file, in bytes
 */
record Rules(
        Set<String> fields,
        Set<String> files,
        Set<String> stripped,
        Set<String> types,
        long maxFieldBytes,
        long maxFileBytes) {
    /** The number of bytes from which the type of a file is detected. */
    private static final int PEEK_BYTES = 512;

    private static final String FALLBACK_NAME = "file";

    Rules {
        MediaTypes.sniff(
                PEEK_BYTES, (head, type) -> PartDecision.skip()); // loads Tika's table now, not on an event loop
    }

    // @start region="rules"
    /**
     * {@return the decision about a part}
     *
     * @param out the form to which the part is forwarded
     * @param log receives the decision in words
     */
    PartDecision decide(PartHead part, OutgoingForm out, Consumer<String> log) throws IOException {
        String name = Objects.requireNonNull(part.name());
        String filename = part.safeFilename();
        if (stripped.contains(name)) {
            log.accept("removed");
            return PartDecision.skip();
        } else if (filename == null && fields.contains(name)) {
            log.accept("forwarded");
            return PartDecision.to(PartSink.limited(out.part(name, null, null), maxFieldBytes));
        } else if (filename == null || !files.contains(name)) {
            log.accept("rejected: unknown field");
            return PartDecision.reject(400, "the form has a field that is not allowed");
        } else if (Objects.equals(part.filename(), "")) { // no file was chosen if no content follows
            return PartDecision.peek(1, first -> {
                log.accept(first.length == 0 ? "removed: no file was chosen" : "rejected: file without a name");
                return first.length == 0
                        ? PartDecision.skip()
                        : PartDecision.reject(400, "the form has a file without a name");
            });
        }
        return MediaTypes.sniff(PEEK_BYTES, (head, type) -> {
                    if (!types.contains(type)) {
                        log.accept("rejected: the content is " + type);
                        return PartDecision.reject(415, "the content of a file has a type that is not allowed");
                    }
                    log.accept("forwarded as " + type);
                    PartSink sink = out.part(name, filename.isEmpty() ? FALLBACK_NAME : filename, type);
                    return PartDecision.to(PartSink.limited(sink, maxFileBytes));
                })
                .decide(part);
    }
    // @end
}

package dev.sluice.form;

import dev.sluice.ReportedDeviation;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A form that was received completely: its fields and files, in the order in which they came (RFC 7578).
 *
 * {@snippet file="Guide.java" region="form"}
 *
 * <p>Close it: that deletes its files and releases its memory, except for parts that were moved or detached.
 * Thread-safe.
 */
public final class MultipartForm implements Closeable {
    private final List<FormPart> parts;
    private final List<SkippedPart> skipped;
    private final List<ReportedDeviation> deviations;
    private final long bodyBytes;
    private final FormMemory memory;

    MultipartForm(
            List<FormPart> parts,
            List<SkippedPart> skipped,
            List<ReportedDeviation> deviations,
            long bodyBytes,
            FormMemory memory) {
        this.parts = List.copyOf(parts);
        this.skipped = List.copyOf(skipped);
        this.deviations = List.copyOf(deviations);
        this.bodyBytes = bodyBytes;
        this.memory = memory;
    }

    /** {@return all parts that are kept, in order; unmodifiable} */
    public List<FormPart> parts() {
        return parts;
    }

    /** {@return all parts called {@code name}, in order; names compare exactly} */
    public List<FormPart> parts(String name) {
        return parts.stream().filter(part -> part.name().equals(name)).toList();
    }

    /** {@return the first part called {@code name}, or null} */
    public @Nullable FormPart part(String name) {
        return parts(name).stream().findFirst().orElse(null);
    }

    /** {@return the parts without a file name, in order, wherever they are stored} */
    public List<FormPart> fields() {
        return parts.stream().filter(part -> !part.isFile()).toList();
    }

    /**
     * {@return the parts with a file name, in order, with the inputs that were left empty}. A browser sends an input that was
     * left empty as a part with an empty file name and no content
     */
    public List<FormPart> files() {
        return parts.stream().filter(FormPart::isFile).toList();
    }

    /**
     * {@return the first file called {@code name}, or null if there is none}. Ignores inputs that were left empty: parts with
     * an empty file name and no content. An empty file that has a name counts, and so does content without a file name
     */
    public @Nullable FormPart file(String name) {
        return parts(name).stream()
                .filter(part -> part.isFile() && !part.wasLeftEmpty())
                .findFirst()
                .orElse(null);
    }

    /**
     * {@return the text of the first field called {@code name}, or null}
     *
     * @throws IOException as {@link FormPart#text()}
     */
    public @Nullable String text(String name) throws IOException {
        for (FormPart part : parts) {
            if (!part.isFile() && part.name().equals(name)) {
                return part.text();
            }
        }
        return null;
    }

    /**
     * {@return the texts of all fields called {@code name}, in order; unmodifiable}
     *
     * @throws IOException as {@link FormPart#text()}
     */
    public List<String> texts(String name) throws IOException {
        List<String> texts = new ArrayList<>();
        for (FormPart part : parts) {
            if (!part.isFile() && part.name().equals(name)) {
                texts.add(part.text());
            }
        }
        return List.copyOf(texts);
    }

    /**
     * {@return the parts that the application skipped with {@link PartDecision#skip(int, String)}, unmodifiable}. The form does not have
     * their content. Look at this list before you answer that the upload succeeded
     */
    public List<SkippedPart> skipped() {
        return skipped;
    }

    /** {@return the deviations that were accepted and reported, at most 100; unmodifiable} */
    public List<ReportedDeviation> deviations() {
        return deviations;
    }

    /** {@return the size of the multipart body, in bytes} */
    public long bodyBytes() {
        return bodyBytes;
    }

    /**
     * Deletes the files and gives back the memory of the parts that are still in the form; closes their streams.
     * Idempotent.
     */
    @Override
    public void close() {
        memory.close(); // all of it: to give it back part by part costs more than to keep the part has
        parts.forEach(FormPart::delete);
    }
}

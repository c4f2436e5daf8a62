package dev.sluice.form;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.ReportedDeviation;
import dev.sluice.form.assembly.AssembledForm;
import dev.sluice.form.storage.FormMemory;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A complete form with its fields and files, in the order in which they arrived (RFC 7578).
 *
 * {@snippet file="Guide.java" region="form"}
 *
 * <p><b>Fields and files.</b> A part with a file name is a file; any other part is a field. Browsers send a file input that the user left
 * empty as a part with an empty file name and no content. Only the methods {@code parts} and {@link #part} return such an
 * {@linkplain FormPart#isEmpty() empty} part; the methods for files ignore it.
 *
 * <p><b>Names</b> are compared exactly. The lists and maps are unmodifiable, and empty if nothing matches.
 *
 * <p><b>Ownership.</b> Closing the form deletes its files and releases its memory, except for parts that were {@linkplain FormPart#moveTo
 * moved} or {@linkplain FormPart#detach detached}. Your code must close a form that it receives from this module: from {@link Forms}, {@link
 * FormIntake}, {@link FormSubscriber} or {@link FormBodyHandler}. The adapters for servlets, Spring and Netty close their forms themselves,
 * after the response. Thread-safe.
 */
public final class MultipartForm implements Closeable {
    private static final Predicate<FormPart> IS_FIELD = part -> !part.isFile();
    private static final Predicate<FormPart> IS_CHOSEN_FILE = part -> part.isFile() && !part.isEmpty();

    private final List<FormPart> parts;
    private final List<SkippedPart> skipped;
    private final List<ReportedDeviation> deviations;
    private final long bodyBytes;
    private final FormMemory memory;

    MultipartForm(AssembledForm form) {
        this.parts = form.parts().stream()
                .map(part -> new FormPart(part, form.rules()))
                .toList();
        this.skipped = List.copyOf(form.skipped());
        this.deviations = List.copyOf(form.deviations());
        this.bodyBytes = form.bodyBytes();
        this.memory = form.memory();
    }

    /**
     * {@return all parts, including inputs that the user left empty} Parts that the {@link PartDecider} skipped or sent to a sink
     * are not included.
     */
    public List<FormPart> parts() {
        return parts;
    }

    /** {@return all parts with this name, including inputs that the user left empty} */
    public List<FormPart> parts(String name) {
        return select(parts, part -> part.name().equals(name));
    }

    /** {@return the first part with this name, or null} */
    public @Nullable FormPart part(String name) {
        return parts(name).stream().findFirst().orElse(null);
    }

    /** {@return the fields: all parts without a file name} */
    public List<FormPart> fields() {
        return select(parts, IS_FIELD);
    }

    /** {@return the files, without file inputs that the user left empty} */
    public List<FormPart> files() {
        return select(parts, IS_CHOSEN_FILE);
    }

    /**
     * {@return the files with this name} An {@code <input type=file multiple>} sends several. The list is empty if the
     * user chose no file. A file that has a name but no content is included.
     */
    public List<FormPart> files(String name) {
        return select(parts(name), IS_CHOSEN_FILE);
    }

    /** {@return the first file with this name, or null if there is none or the user chose none} */
    public @Nullable FormPart file(String name) {
        return files(name).stream().findFirst().orElse(null);
    }

    /**
     * {@return the first file with this name}
     *
     * @throws MultipartException with the reason {@link Reason#MISSING_FIELD} (400) if there is none or the user chose none
     */
    public FormPart requireFile(String name) throws MultipartException {
        FormPart file = file(name);
        if (file == null) {
            throw missing("file", name);
        }
        return file;
    }

    /**
     * {@return the text of the first field with this name, or null if there is no such field} The text is empty if the
     * user left the input empty.
     *
     * @throws MultipartException as {@link FormPart#text()}
     * @throws IOException as {@link FormPart#text()}
     */
    public @Nullable String text(String name) throws IOException {
        List<FormPart> fields = select(parts(name), IS_FIELD);
        return fields.isEmpty() ? null : fields.get(0).text();
    }

    /**
     * {@return the text of the first field with this name} The text may be empty: a field is missing only if the client
     * did not send it.
     *
     * @throws MultipartException with the reason {@link Reason#MISSING_FIELD} (400) if there is no such field, or as
     *     {@link FormPart#text()}
     * @throws IOException as {@link FormPart#text()}
     */
    public String requireText(String name) throws IOException {
        String text = text(name);
        if (text == null) {
            throw missing("field", name);
        }
        return text;
    }

    /**
     * {@return the texts of all fields with this name}
     *
     * @throws MultipartException as {@link FormPart#text()}
     * @throws IOException as {@link FormPart#text()}
     */
    public List<String> texts(String name) throws IOException {
        List<String> texts = new ArrayList<>();
        for (FormPart field : select(parts(name), IS_FIELD)) {
            texts.add(field.text());
        }
        return List.copyOf(texts);
    }

    /**
     * {@return the texts of all fields by name} Names are in order of first arrival, and the texts of a name are in
     * order of their fields. Each call creates a new map.
     *
     * @throws MultipartException as {@link FormPart#text()}
     * @throws IOException as {@link FormPart#text()}
     */
    public Map<String, List<String>> texts() throws IOException {
        Map<String, List<String>> texts = new LinkedHashMap<>();
        for (FormPart field : fields()) {
            texts.computeIfAbsent(field.name(), name -> new ArrayList<>()).add(field.text());
        }
        texts.entrySet().forEach(field -> field.setValue(List.copyOf(field.getValue())));
        return Collections.unmodifiableMap(texts);
    }

    private static List<FormPart> select(List<FormPart> parts, Predicate<FormPart> condition) {
        return parts.stream().filter(condition).toList();
    }

    private static MultipartException missing(String kind, String name) {
        return MultipartException.because(Reason.MISSING_FIELD)
                .saying("a required " + kind + " is missing")
                .part(-1, name)
                .build();
    }

    /**
     * {@return the parts that the application discarded with {@link PartDecision#skip(int, String)}} Their content is
     * not available. Check this list before you report success to the client.
     */
    public List<SkippedPart> skipped() {
        return skipped;
    }

    /**
     * {@return the first 100 deviations from the standards that were accepted and reported, in the body first and then in its nested
     * bodies}
     */
    public List<ReportedDeviation> deviations() {
        return deviations;
    }

    /** {@return the size of the multipart body, in bytes} */
    public long bodyBytes() {
        return bodyBytes;
    }

    /**
     * Deletes the files and releases the memory of all parts that were neither moved nor detached, and closes their streams.
     * Idempotent.
     */
    @Override
    public void close() {
        memory.close(); // all parts at once, which is faster than part by part
        parts.forEach(FormPart::delete);
    }
}

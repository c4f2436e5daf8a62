package dev.sluice.fuzz;

import dev.sluice.Boundary;
import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.FormOptions;
import dev.sluice.form.FormPart;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PushedForm;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the form of a request has to be: its body at once, in memory, of which there is enough. */
final class ExpectedForm {
    private final List<Part> parts = new ArrayList<>();
    private final Map<String, List<String>> texts = new LinkedHashMap<>();
    private final boolean ends;
    private @Nullable Reason textsRefusal;
    private @Nullable Exception refusal;

    /** A part. */
    record Part(String name, @Nullable String filename, byte[] content) {}

    /**
     * Takes a form.
     *
     * @param options with which nothing fails but for the body
     * @param length the Content-Length, or -1
     * @param bytes those that come
     * @param ends whether the body ends with them; else the connection fails
     * @param charset what the request says, or null
     * @param maxTextBytes of all fields
     */
    ExpectedForm(
            FormOptions options,
            String contentType,
            long length,
            byte[] bytes,
            boolean ends,
            @Nullable Charset charset,
            long maxTextBytes) {
        this.ends = ends;
        try {
            long most = options.multipart().maxBodyBytes();
            if (length > most) {
                throw MultipartException.because(Reason.BODY_TOO_LARGE).at(most).build();
            }
            Boundary boundary = Boundary.from(contentType, options.multipart().preset());
            try (PushedForm assembler = PushedForm.create(boundary, options)) {
                assembler.feed(Unpooled.wrappedBuffer(bytes));
                if (ends) {
                    take(assembler, charset, maxTextBytes, options);
                }
            }
        } catch (IOException | BrokenApplication e) {
            refusal = e;
        }
    }

    private void take(PushedForm assembler, @Nullable Charset charset, long maxTextBytes, FormOptions options)
            throws IOException {
        try (MultipartForm form = assembler.finish()) {
            long size = 0;
            Charset unnamed = form.part("_charset_") == null ? charset : null;
            for (FormPart part : form.parts()) {
                byte[] content = content(part);
                parts.add(new Part(part.name(), part.filename(), content));
                if (!part.isFile()) {
                    size += content.length;
                    Charset named = unnamed == null || part.head().contentTypeParameter("charset") != null
                            ? part.charset()
                            : unnamed;
                    texts.computeIfAbsent(part.name(), name -> new ArrayList<>())
                            .add(new String(content, named));
                    if (content.length > options.multipart().maxFieldBytes()) {
                        textsRefusal = Reason.FIELD_TOO_LARGE;
                    }
                }
            }
            if (size > maxTextBytes) {
                textsRefusal = Reason.IN_MEMORY_TOO_LARGE;
            }
        }
    }

    private static byte[] content(FormPart part) throws IOException {
        try (InputStream in = part.inputStream()) {
            return in.readAllBytes();
        }
    }

    /** {@return whether there is a form at all} */
    boolean isWhole() {
        return ends && refusal == null;
    }

    /** {@return the parts that the application has not sent elsewhere} */
    List<Part> parts() {
        return parts;
    }

    /** {@return why there is no form, or null; beside the connection} */
    @Nullable
    Exception refusal() {
        return refusal;
    }

    /** {@return the fields, by name, in order} */
    Map<String, List<String>> texts() {
        return texts;
    }

    /** {@return why the fields cannot be parameters, though the form is whole, or null} */
    @Nullable
    Reason textsRefusal() {
        return textsRefusal;
    }
}

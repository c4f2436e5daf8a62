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

/** The expected form of a request, read in memory from one chunk with unlimited resources. */
final class ExpectedForm {
    private final List<Part> parts = new ArrayList<>();
    private final Map<String, List<String>> texts = new LinkedHashMap<>();
    private final boolean ends;
    private @Nullable Reason textsRefusal;
    private @Nullable Exception refusal;

    record Part(String name, @Nullable String filename, byte[] content) {}

    /**
     * Reads the form.
     *
     * @param options options with which only the body can cause a failure
     * @param length the Content-Length, or -1
     * @param bytes the received bytes
     * @param ends whether the body ends there; otherwise the connection fails
     * @param charset the charset of the request, or null
     * @param maxTextBytes the limit for all fields together
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
            Boundary boundary =
                    Boundary.anyMultipart(contentType, options.multipart().preset());
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

    /** {@return whether the form is complete} */
    boolean isWhole() {
        return ends && refusal == null;
    }

    /** {@return the parts that the application has neither sent to a sink nor skipped} */
    List<Part> parts() {
        return parts;
    }

    /** {@return the reason for rejecting the form, or null; failures of the connection are not included} */
    @Nullable
    Exception refusal() {
        return refusal;
    }

    /** {@return the fields by name, in order} */
    Map<String, List<String>> texts() {
        return texts;
    }

    /** {@return the reason why the fields of a complete form cannot be parameters, or null} */
    @Nullable
    Reason textsRefusal() {
        return textsRefusal;
    }
}

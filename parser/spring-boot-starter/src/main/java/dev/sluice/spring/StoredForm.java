package dev.sluice.spring;

import dev.sluice.form.MultipartForm;
import dev.sluice.s3.S3Form;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A form whose files are in the object store. A controller method of Spring MVC or WebFlux receives it as a parameter:
 * the files stream into the store while they arrive, and the method is called after the form has been committed.
 *
 * <p>This parameter must be the only one that reads the form. Use {@link #text} and {@link #fields} for its fields.
 *
 * @param id the identifier of the form in the store, for {@link dev.sluice.s3.S3Sinks#find} and {@link
 *     dev.sluice.s3.S3Sinks#delete}. A form without files is not stored
 * @param fields the parts without a file name; closed when the request ends
 * @param files the stored files, in order
 */
public record StoredForm(String id, MultipartForm fields, List<S3Form.StoredPart> files) {
    /** Makes an unmodifiable copy of the list. */
    public StoredForm {
        files = List.copyOf(files);
    }

    static StoredForm of(S3Form stored, MultipartForm fields) {
        return new StoredForm(stored.id(), fields, stored.objects());
    }

    /**
     * {@return the text of the first field with this name, or null if there is no such field}
     *
     * @throws IOException if the text cannot be decoded
     */
    public @Nullable String text(String name) throws IOException {
        return fields.text(name);
    }
}

package dev.sluice.samples.upload.clients;

import java.io.IOException;
import java.net.URI;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A program or library that sends forms, with its way of encoding names and types. */
public interface UploadClient {
    /** {@return the client's name in test names} */
    String label();

    default boolean isPresent() throws IOException, InterruptedException {
        return true;
    }

    /** Sends the form and waits for the response. */
    ServerResponse post(URI target, List<FormPart> form) throws IOException, InterruptedException;

    /** {@return the text that this client sends for a name, between the quotes; most follow the HTML standard} */
    default String onWire(String name) {
        return name.replace("\"", "%22");
    }

    /** {@return the text that this client sends for a file name, between the quotes} */
    default String filenameOnWire(String filename) {
        return onWire(filename);
    }

    /** {@return the file name as a preset reads it} */
    default String filenameAsRead(String filename, String preset) {
        return filenameOnWire(filename);
    }

    /** {@return whether the client can express this form} */
    default boolean canSend(Form form) {
        return true;
    }

    /** {@return the reason for which the preset STRICT rejects this client's encoding of the form, or null} */
    default @Nullable String rejectedWhenStrict(Form form) {
        return form == Form.ESCAPES ? "MALFORMED_CONTENT_DISPOSITION" : null; // policy row 34: parsers differ
    }

    default @Nullable String typeOnWire(FormPart part) {
        return part.type();
    }
}

package dev.sluice.samples.upload.clients;

import java.io.IOException;
import java.net.URI;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A program or a library that sends forms, and what it makes of names and types on the wire. */
public interface UploadClient {
    /** {@return the name that it goes by in test names} */
    String label();

    /** {@return whether this machine has it} */
    default boolean isPresent() throws IOException, InterruptedException {
        return true;
    }

    /** Sends the form and waits for the answer. */
    Answer post(URI target, List<FormPart> form) throws IOException, InterruptedException;

    /** {@return the literal value of a name or filename once its {@code quoted-string} is undone: of most as HTML says} */
    default String onWire(String name) {
        return name.replace("\"", "%22");
    }

    /** {@return the same for a filename} */
    default String filenameOnWire(String filename) {
        return onWire(filename);
    }

    /** {@return the filename as a preset reads it from the wire} */
    default String filenameAsRead(String filename, String preset) {
        return filenameOnWire(filename);
    }

    /** {@return whether it can say what is in the form at all} */
    default boolean canSend(Form form) {
        return true;
    }

    /** {@return the reason for which the preset STRICT refuses how it writes the form, or null} */
    default @Nullable String refusedWhenStrict(Form form) {
        return form == Form.ESCAPES ? "MALFORMED_CONTENT_DISPOSITION" : null; // policy row 34: readers differ
    }

    /** {@return the {@code Content-Type} that it gives to the part} */
    default @Nullable String typeOnWire(FormPart part) {
        return part.type();
    }
}

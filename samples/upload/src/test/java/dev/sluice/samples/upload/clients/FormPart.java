package dev.sluice.samples.upload.clients;

import dev.sluice.testkit.TestForm;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * A part for a client to send: a text field, or a file with a name and a type.
 *
 * @param filename empty for a field
 * @param type null for a field
 * @param content must not be modified
 */
public record FormPart(
        String name, String filename, @Nullable String type, byte[] content) {
    public static FormPart field(String name, String text) {
        return new FormPart(name, "", null, text.getBytes(StandardCharsets.UTF_8));
    }

    public static FormPart file(String name, String filename, String type, byte[] content) {
        return new FormPart(name, filename, type, content);
    }

    /** {@return bytes that are the same in every run and contain many CRs, LFs and dashes} */
    public static byte[] bytes(int size) {
        byte[] bytes = new byte[size];
        Random random = new Random(size);
        random.nextBytes(bytes);
        byte[] nearDelimiter = "\r\n------".getBytes(StandardCharsets.US_ASCII);
        for (int at = 0; at + nearDelimiter.length <= size; at += 97) {
            System.arraycopy(nearDelimiter, 0, bytes, at, 1 + random.nextInt(nearDelimiter.length));
        }
        return bytes;
    }

    boolean isFile() {
        return !filename.isEmpty();
    }

    String text() {
        return new String(content, StandardCharsets.UTF_8);
    }

    String sha256() {
        return TestForm.sha256(content);
    }
}

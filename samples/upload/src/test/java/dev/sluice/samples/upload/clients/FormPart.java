package dev.sluice.samples.upload.clients;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** One part as a client is asked to send it: a text field, or a file with a name and a type. Immutable. */
public final class FormPart {
    private final String name;
    private final @Nullable String filename;
    private final @Nullable String type;
    private final byte[] content;

    private FormPart(String name, @Nullable String filename, @Nullable String type, byte[] content) {
        this.name = name;
        this.filename = filename;
        this.type = type;
        this.content = content;
    }

    public static FormPart field(String name, String text) {
        return new FormPart(name, null, null, text.getBytes(StandardCharsets.UTF_8));
    }

    public static FormPart file(String name, String filename, String type, byte[] content) {
        return new FormPart(name, filename, type, content.clone());
    }

    /** {@return bytes that are the same in every run and hold CR, LF and dashes in plenty} */
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

    String name() {
        return name;
    }

    @Nullable
    String filename() {
        return filename;
    }

    @Nullable
    String type() {
        return type;
    }

    boolean isFile() {
        return filename != null;
    }

    byte[] content() {
        return content.clone();
    }

    String text() {
        return new String(content, StandardCharsets.UTF_8);
    }

    int size() {
        return content.length;
    }

    String sha256() {
        return sha256(content);
    }

    public static String sha256(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}

package dev.sluice.s3;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.protocols.jsoncore.JsonNode;
import software.amazon.awssdk.protocols.jsoncore.JsonWriter;

/**
 * The content of {@code form.json}: the commit record of a form, or the tombstone that ended it.
 *
 * <pre>{@code
 * {"form":"<id>","state":"committed","writer":"<nonce>","files":[{"field":"f","filename":"a.txt","key":"...","size":3,
 *  "type":"text/plain","crc32":"...","etag":"...","version":null,"upload":null}],
 *  "sha256":"<of all bytes before this member's comma>"}
 * }</pre>
 *
 * A tombstone has the state {@code ended} and no files. The checksum makes a truncated or damaged copy recognizable.
 *
 * @param isCommitted whether the form is committed; otherwise this is a tombstone
 * @param writer a random value that identifies the writer
 */
public record FormRecord(String id, boolean isCommitted, String writer, List<File> files) {
    private static final String CHECKSUM = ",\"sha256\":\"";

    /**
     * A file of a committed form: the names that the client sent, the media type of the object, and the object.
     *
     * @param upload the identifier of the multipart upload that has become the object, or null if it was stored by one request
     */
    public record File(
            String field,
            String filename,
            String contentType,
            ObjectStore.Stored stored,
            @Nullable String upload) {}

    /** Makes an unmodifiable copy of the list. */
    public FormRecord {
        files = List.copyOf(files);
    }

    static FormRecord tombstone(String id, String writer) {
        return new FormRecord(id, false, writer, List.of());
    }

    /** {@return the record as JSON, in UTF-8} */
    byte[] bytes() {
        JsonWriter json = JsonWriter.create().writeStartObject();
        member(json, "form", id);
        member(json, "state", isCommitted ? "committed" : "ended");
        member(json, "writer", writer);
        json.writeFieldName("files").writeStartArray();
        for (File file : files) {
            json.writeStartObject();
            member(json, "field", file.field);
            member(json, "filename", file.filename);
            member(json, "key", file.stored.key());
            json.writeFieldName("size").writeValue(file.stored.size());
            member(json, "type", file.contentType);
            member(json, "crc32", file.stored.crc32());
            member(json, "etag", file.stored.etag());
            member(json, "version", file.stored.version());
            member(json, "upload", file.upload);
            json.writeEndObject();
        }
        byte[] all = json.writeEndArray().writeEndObject().getBytes();
        byte[] open = Arrays.copyOf(all, all.length - 1); // without the last brace
        return (new String(open, StandardCharsets.UTF_8) + CHECKSUM + sha256(open) + "\"}")
                .getBytes(StandardCharsets.UTF_8);
    }

    private static void member(JsonWriter json, String name, @Nullable String value) {
        json.writeFieldName(name);
        if (value == null) {
            json.writeNull();
        } else {
            json.writeValue(value);
        }
    }

    private static String sha256(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e); // every JDK has it
        }
    }

    /**
     * {@return the record of the form {@code id}, or null if the bytes are not a complete record of it}
     *
     * @param json the content of {@code form.json}
     */
    public static @Nullable FormRecord parse(String id, byte[] json) {
        String text = new String(json, StandardCharsets.UTF_8);
        int end = text.lastIndexOf(CHECKSUM);
        if (end < 0) {
            return null;
        }
        String before = text.substring(0, end);
        String checksum = CHECKSUM + sha256(before.getBytes(StandardCharsets.UTF_8)) + "\"}";
        if (!text.substring(end).equals(checksum)) {
            return null;
        }
        try {
            return parsed(id, JsonNode.parser().parse(text).asObject());
        } catch (RuntimeException e) {
            return null; // from a later version of this class
        }
    }

    private static @Nullable FormRecord parsed(String id, Map<String, JsonNode> members) {
        String state = text(members, "state");
        boolean known = state.equals("committed") || state.equals("ended");
        if (!known || !text(members, "form").equals(id)) {
            return null;
        }
        List<File> files = new ArrayList<>();
        for (JsonNode file : Objects.requireNonNull(members.get("files")).asArray()) {
            Map<String, JsonNode> of = file.asObject();
            files.add(new File(
                    text(of, "field"),
                    text(of, "filename"),
                    text(of, "type"),
                    new ObjectStore.Stored(
                            text(of, "key"),
                            text(of, "etag"),
                            optional(of, "version"),
                            Long.parseLong(
                                    Objects.requireNonNull(of.get("size")).asNumber()),
                            text(of, "crc32")),
                    optional(of, "upload")));
        }
        return new FormRecord(id, state.equals("committed"), text(members, "writer"), files);
    }

    private static String text(Map<String, JsonNode> members, String name) {
        return Objects.requireNonNull(members.get(name), name).asString();
    }

    private static @Nullable String optional(Map<String, JsonNode> members, String name) {
        JsonNode member = members.get(name);
        return member == null || member.isNull() ? null : member.asString();
    }
}

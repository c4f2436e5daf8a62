package dev.sluice.samples.upload.clients;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/** The forms that clients send, as far as they can express them. */
enum Form {
    FIELDS(
            FormPart.field("title", "hello"),
            FormPart.field("empty", ""),
            FormPart.field("gr\u00f6\u00dfe", "na\u00efve \u2603 \u65e5\u672c\u8a9e \ud83d\ude80"),
            FormPart.field("title", "the same name again"),
            FormPart.field("lines", "one\r\n--two\r\n\r\n----\r\n")),
    FILES(
            FormPart.field("note", "three files"),
            FormPart.file("f", "a.txt", "text/plain", "plain text".getBytes(StandardCharsets.US_ASCII)),
            FormPart.file("f", "b.bin", "application/octet-stream", FormPart.bytes(300_001)),
            FormPart.file("g", "c.png", "image/png", FormPart.bytes(70_000))),
    NAMES(
            named("a;b c"),
            file("semi;colon.txt"),
            file("gr\u00f6\u00dfe \u2603 \u65e5\u672c\u8a9e \ud83d\ude80.txt"),
            file("per%22cent.txt"),
            file("it's = a, file.txt")),
    /** Names that some clients escape with backslashes, and others do not. */
    ESCAPES(named("a\"b;c"), file("quo\"te.txt"), file("back\\slash.txt")),
    EMPTY_FILE(FormPart.file("f", "empty.bin", "application/octet-stream", new byte[0]), FormPart.field("after", "it")),
    FIFTY_FILES(IntStream.range(0, 50)
            .mapToObj(i ->
                    FormPart.file("f" + i, "file" + i + ".bin", "application/octet-stream", FormPart.bytes(i * 37)))
            .toArray(FormPart[]::new)),
    LARGE_FILE(
            FormPart.field("before", "8 MiB and one byte"),
            FormPart.file("f", "large.bin", "application/octet-stream", FormPart.bytes((8 << 20) + 1)));

    private final List<FormPart> parts;

    Form(FormPart... parts) {
        this.parts = List.of(parts);
    }

    List<FormPart> parts() {
        return parts;
    }

    private static FormPart named(String field) {
        return FormPart.field(field, "a name of a field");
    }

    private static FormPart file(String filename) {
        return FormPart.file("f", filename, "text/plain", filename.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}

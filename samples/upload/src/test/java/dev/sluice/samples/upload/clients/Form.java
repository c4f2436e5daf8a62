package dev.sluice.samples.upload.clients;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The forms that clients send, as far as they can express them. */
enum Form {
    FIELDS {
        @Override
        List<FormPart> parts() {
            return List.of(
                    FormPart.field("title", "hello"),
                    FormPart.field("empty", ""),
                    FormPart.field("gr\u00f6\u00dfe", "na\u00efve \u2603 \u65e5\u672c\u8a9e \ud83d\ude80"),
                    FormPart.field("title", "the same name again"),
                    FormPart.field("lines", "one\r\n--two\r\n\r\n----\r\n"));
        }
    },
    FILES {
        @Override
        List<FormPart> parts() {
            return List.of(
                    FormPart.field("note", "three files"),
                    FormPart.file("f", "a.txt", "text/plain", "plain text".getBytes(StandardCharsets.US_ASCII)),
                    FormPart.file("f", "b.bin", "application/octet-stream", FormPart.bytes(300_001)),
                    FormPart.file("g", "c.png", "image/png", FormPart.bytes(70_000)));
        }
    },
    NAMES {
        @Override
        List<FormPart> parts() {
            return named(
                    "a;b c",
                    "semi;colon.txt",
                    "gr\u00f6\u00dfe \u2603 \u65e5\u672c\u8a9e \ud83d\ude80.txt",
                    "per%22cent.txt",
                    "it's = a, file.txt");
        }
    },
    /** Names that some clients escape with backslashes, and others do not. */
    ESCAPES {
        @Override
        List<FormPart> parts() {
            return named("a\"b;c", "quo\"te.txt", "back\\slash.txt");
        }
    },
    EMPTY_FILE {
        @Override
        List<FormPart> parts() {
            return List.of(
                    FormPart.file("f", "empty.bin", "application/octet-stream", new byte[0]),
                    FormPart.field("after", "it"));
        }
    },
    FIFTY_FILES {
        @Override
        List<FormPart> parts() {
            List<FormPart> parts = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                parts.add(FormPart.file(
                        "f" + i, "file" + i + ".bin", "application/octet-stream", FormPart.bytes(i * 37)));
            }
            return parts;
        }
    },
    LARGE_FILE {
        @Override
        List<FormPart> parts() {
            return List.of(
                    FormPart.field("before", "8 MiB and one byte"),
                    FormPart.file("f", "large.bin", "application/octet-stream", FormPart.bytes((8 << 20) + 1)));
        }
    };

    abstract List<FormPart> parts();

    private static List<FormPart> named(String field, String... filenames) {
        List<FormPart> parts = new ArrayList<>();
        parts.add(FormPart.field(field, "a name of a field"));
        for (String filename : filenames) {
            parts.add(FormPart.file("f", filename, "text/plain", filename.getBytes(StandardCharsets.UTF_8)));
        }
        return parts;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}

package dev.sluice.testkit;

import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** Random names, media types and contents of parts that could mislead a parser of multipart bodies. */
public final class HostileText {
    /** Strings that are significant in a header section, and characters of one to four UTF-8 bytes. */
    private static final String[] NAMES = {
        "a",
        "Z",
        "0",
        "name",
        "filename",
        "=",
        "\"",
        "\\",
        ";",
        " ",
        "\r\n",
        "\0",
        "%",
        "%22",
        "é",
        "日",
        "\uD83D\uDE00",
        "\uD83D",
        "[",
        "]",
        "/",
        ".",
        ":",
        ",",
        "&#",
        "&amp;",
        "=?",
        "?=",
        "'",
        "*",
        "\uFEFF",
        "--x",
        "\t",
        "\u0085",
        "+",
        "_charset_",
        "<",
        "@"
    };

    private static final String[] CONTENTS = {
        "\r\n", "\r", "\n", "--", "-", "x", "a", "\0", "\u00FF", "--boundary", "bcdefghijklmn"
    };

    private static final @Nullable String[] TYPES = {
        null,
        "text/plain",
        "text/plain; charset=utf-8",
        "image/svg+xml; a=\"b;c\"",
        "text/x; hostname=a; x-filename=\"b\"; a=\"; name=c\"",
        "application/octet-stream"
    };

    private HostileText() {}

    /** {@return a name or file name, which may have control characters and lone surrogates} */
    public static String name(SplittableRandom random) {
        return text(NAMES, random, 8);
    }

    /** {@return a media type, or null for none; never {@code application/octet-stream} for a field} */
    public static @Nullable String contentType(SplittableRandom random, boolean file) {
        return TYPES[random.nextInt(file ? TYPES.length : TYPES.length - 1)];
    }

    /** {@return up to 30 short sequences, many of which occur in delimiters} */
    public static byte[] content(SplittableRandom random) {
        return text(CONTENTS, random, 30).getBytes(StandardCharsets.ISO_8859_1);
    }

    private static String text(String[] tokens, SplittableRandom random, int most) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(most + 1); i > 0; i--) {
            text.append(tokens[random.nextInt(tokens.length)]);
        }
        return text.toString();
    }
}

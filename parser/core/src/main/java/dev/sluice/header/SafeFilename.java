package dev.sluice.header;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Set;

/** A conversion of file names chosen by clients to base names that are safe to show and to store. */
public final class SafeFilename {
    private static final int MAX_BYTES = 255;

    /**
     * Device names of Windows, reserved in upper and lower case and with any extension. COM and LPT with a digit are
     * reserved too.
     */
    private static final Set<String> DEVICES = Set.of("con", "prn", "aux", "nul", "conin$", "conout$");

    private static final String DIGITS = "0123456789\u00B9\u00B2\u00B3";

    /** Path separators. The fullwidth forms are included because Windows converts them to ASCII in old code pages. */
    private static final String SEPARATORS = "/\\\uFF0F\uFF3C";

    private SafeFilename() {}

    /**
     * {@return the last path element of {@code filename}, without control, format and unpaired characters, with {@code _} in place of
     * characters that Windows reserves, without blanks and dots at both ends, and with at most 255 bytes of UTF-8; empty if no visible
     * character remains}
     */
    public static String of(String filename) {
        int start = filename.length();
        while (start > 0 && SEPARATORS.indexOf(filename.charAt(start - 1)) < 0) {
            start--;
        }
        StringBuilder base = new StringBuilder();
        filename.substring(start)
                .codePoints()
                .filter(SafeFilename::isKept)
                .forEach(c -> base.appendCodePoint(replace(c)));
        String trimmed = trim(base.toString());
        if (trimmed.codePoints().allMatch(SafeFilename::isInvisible)) {
            return "";
        }
        String shortened = shorten(trimmed);
        return isDevice(shortened) ? shorten("_" + shortened) : shortened; // shortening may produce a device name
    }

    private static boolean isDevice(String name) {
        String stem = name.substring(0, (name + '.').indexOf('.')).strip().toLowerCase(Locale.ROOT);
        boolean port = stem.length() == 4 && (stem.startsWith("com") || stem.startsWith("lpt"));
        return port ? DIGITS.indexOf(stem.charAt(3)) >= 0 : DEVICES.contains(stem);
    }

    /** {@return whether {@code c} is a blank, a dot, or an invisible letter, mark or symbol; other invisible characters are removed} */
    private static boolean isInvisible(int c) {
        return switch (c) {
            case '.', ' ', 0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180F, 0x2800, 0x3164, 0xFFA0 -> true;
            default ->
                c >= 0x180B && c <= 0x180D
                        || c >= 0xFE00 && c <= 0xFE0F
                        || c >= 0xE0100; // of these, only variation selectors are kept
        };
    }

    /** {@return whether {@code c} is a visible character or a blank} */
    public static boolean isKept(int c) {
        return switch (Character.getType(c)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.PRIVATE_USE,
                    Character.UNASSIGNED,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR -> false;
            default -> true;
        };
    }

    private static int replace(int c) {
        if ("<>:\"|?*".indexOf(c) >= 0) {
            return '_';
        }
        return Character.getType(c) == Character.SPACE_SEPARATOR ? ' ' : c;
    }

    private static String trim(String name) {
        int from = 0;
        int to = name.length();
        while (from < to && ". ".indexOf(name.charAt(from)) >= 0) {
            from++;
        }
        while (to > from && ". ".indexOf(name.charAt(to - 1)) >= 0) {
            to--;
        }
        return name.substring(from, to);
    }

    /** Shortens the stem, but not an extension of up to 32 bytes, and never splits a character. */
    private static String shorten(String name) {
        if (size(name) <= MAX_BYTES) {
            return name;
        }
        String tail = name.substring(Math.max(0, name.lastIndexOf('.'))); // the whole name if it has no dot
        String extension = size(tail) <= 32 ? tail : "";
        int room = MAX_BYTES - size(extension);
        int end = 0;
        for (; ; ) { // terminates, because the name is too long
            int c = name.codePointAt(end);
            room -= size(Character.toString(c));
            if (room < 0) {
                return trim(name.substring(0, end)) + extension;
            }
            end += Character.charCount(c);
        }
    }

    private static int size(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }
}

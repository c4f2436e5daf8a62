package dev.sluice.header;

import java.nio.charset.StandardCharsets;
import java.text.Normalizer;
import java.util.Locale;
import java.util.Set;

/**
 * Converts the file names that clients send to base names that are safe to show and to store.
 *
 * <p>A safe name stays safe in programs that change it or insert it into other text:
 *
 * <ul>
 *   <li>File systems, databases and code pages normalize names. The result is therefore in the normalization form NFKC,
 *       and is checked in this form: a fullwidth slash separates paths, and a fullwidth dot is a dot. No normalization
 *       form of the result contains a separator or a reserved character.
 *   <li>Scripts insert names into commands and URLs. The result contains no quote, variable or separator of commands of
 *       a POSIX shell or of {@code cmd.exe}, no percent sign, and does not look like an option or a home directory. It may
 *       contain blanks, brackets, {@code ^} and {@code #}, which a shell interprets, so a name must still be quoted.
 * </ul>
 */
public final class SafeFilename {
    private static final int MAX_BYTES = 255;

    /** Windows device names, reserved in upper and lower case and with any extension. COM and LPT with a digit are reserved too. */
    private static final Set<String> DEVICES = Set.of("con", "prn", "aux", "nul");

    /**
     * Characters that Windows, a shell or a URL interprets. The two inequality signs become {@code <} and {@code >} when
     * they are decomposed. Windows converts the two slashes to ASCII in old code pages.
     */
    private static final String RESERVED = "<>:\"|?*$`';&%!\u226E\u226F\u2044\u2215";

    private SafeFilename() {}

    /**
     * {@return the last path element of {@code filename} in the normalization form NFKC, made safe; empty if no visible character remains}
     * Characters that are not {@linkplain #isKept kept} are removed, and reserved characters become {@code _}. Blanks and dots at both ends
     * are removed. A name that looks like a device, an option or a home directory gets the prefix {@code _}. The result has at most 255
     * bytes of UTF-8.
     */
    public static String of(String filename) {
        StringBuilder kept = new StringBuilder();
        filename.codePoints().filter(SafeFilename::isKept).forEach(kept::appendCodePoint);
        String text = Normalizer.normalize(kept, Normalizer.Form.NFKC);
        int start = Math.max(text.lastIndexOf('/'), text.lastIndexOf('\\')) + 1;
        StringBuilder base = new StringBuilder();
        text.substring(start).codePoints().forEach(c -> base.appendCodePoint(replace(c)));
        String trimmed = trim(base.toString());
        if (trimmed.codePoints().allMatch(SafeFilename::isInvisible)) {
            return "";
        }
        String shortened = shorten(trimmed);
        return needsPrefix(shortened) ? shorten("_" + shortened) : shortened; // shortening may produce a device name
    }

    private static boolean needsPrefix(String name) {
        return name.startsWith("-") || name.startsWith("~") || isDevice(name);
    }

    private static boolean isDevice(String name) {
        String stem = name.substring(0, (name + '.').indexOf('.')).strip().toLowerCase(Locale.ROOT);
        boolean port = stem.length() == 4 && (stem.startsWith("com") || stem.startsWith("lpt"));
        return port ? "0123456789".indexOf(stem.charAt(3)) >= 0 : DEVICES.contains(stem);
    }

    /** {@return whether {@code c} is a blank, a dot, or an invisible letter, mark or symbol; other invisible characters are removed} */
    private static boolean isInvisible(int c) {
        return switch (c) {
            case '.', ' ', 0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180F, 0x2800 -> true;
            default ->
                c >= 0x180B && c <= 0x180D
                        || c >= 0xFE00 && c <= 0xFE0F
                        || c >= 0xE0100; // of these, only variation selectors are kept
        };
    }

    /**
     * {@return whether {@code c} is kept: it is not a control, format, surrogate, private-use or unassigned character, nor a line or
     * paragraph separator}
     */
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

    /** {@return whether {@code c} is a space, or is {@linkplain #isKept kept} and not a blank} */
    public static boolean isPrintable(int c) {
        return c == ' ' || isKept(c) && Character.getType(c) != Character.SPACE_SEPARATOR;
    }

    private static int replace(int c) {
        if (RESERVED.indexOf(c) >= 0) {
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
        for (; ; ) { // always returns, because the whole name is too long
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

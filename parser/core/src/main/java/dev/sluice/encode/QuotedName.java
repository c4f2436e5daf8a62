package dev.sluice.encode;

import dev.sluice.NameEscaping;
import dev.sluice.header.SafeFilename;
import org.jspecify.annotations.Nullable;

/**
 * A name or file name as written between the quotes of a {@code Content-Disposition} parameter.
 *
 * <p>The result contains no control character, no backslash (readers disagree on its meaning), and no text that a common reader takes for
 * another parameter, file or path. Non-ASCII letters, {@code :}, {@code ,}, {@code +} and {@code '} are written unchanged, although
 * some readers replace them or decode them in another charset.
 */
public final class QuotedName {
    /** The kind of parameter. Readers misread different characters in each kind. */
    public enum Kind {
        FIELD_NAME("name"),
        FILE_INPUT_NAME("name"),
        FILENAME("file name");

        private final String label;

        Kind(String label) {
            this.label = label;
        }
    }

    private static final String PARAMETER = "name";

    /**
     * If the name of a file input contains this word after a blank, or twice in succession, at least one reader takes the word for the
     * parameter and finds no file.
     */
    private static final String FILENAME = "filename";

    private static final String TWICE = FILENAME + FILENAME;

    private static final boolean[] PLAIN = new boolean[128];

    static {
        String letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        (letters + "!#$'()*+,-.:<>?@^_`{|}~").chars().forEach(c -> PLAIN[c] = true);
    }

    private final String text;
    private final Kind kind;

    /** Whether Django discards a file with this name. */
    private final boolean directory;

    /** Whether PHP reads the name of a file input as an array. */
    private final boolean array;

    private QuotedName(String text, Kind kind) {
        this.text = text;
        this.kind = kind;
        this.directory = kind == Kind.FILENAME && isDirectory();
        this.array = kind == Kind.FILE_INPUT_NAME && isArray();
    }

    /**
     * {@return the text between the quotes}
     *
     * @throws IllegalArgumentException if {@code escaping} does not permit the name
     */
    public static String of(String text, Kind kind, NameEscaping escaping) {
        return new QuotedName(text, kind).escaped(escaping);
    }

    private String escaped(NameEscaping escaping) {
        if (text.isEmpty() && escaping == NameEscaping.REPLACE) {
            return "_";
        } else if (text.isEmpty()) {
            throw rejection("is empty");
        }
        StringBuilder escaped = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            String problem = problem(i);
            if (problem == null) {
                escaped.append(text.charAt(i));
            } else {
                escaped.append(replacement(text.charAt(i), i, problem, escaping));
            }
        }
        return escaped.toString();
    }

    /** {@return whether {@code c} is an ASCII character that is written unchanged in every {@linkplain #isUsual usual} name} */
    static boolean isPlain(char c) {
        return c < PLAIN.length && PLAIN[c];
    }

    /**
     * {@return whether the name has only plain characters and letters, and is written unchanged in every kind of parameter} False does
     * not mean that the name is changed: short names, for example, take the slow path.
     *
     * @param plain the number of plain characters at the start of the name
     */
    static boolean isUsual(String name, int plain) {
        int i = plain;
        for (char c; i < name.length() && (isPlain(c = name.charAt(i)) || Character.isLetter(c)); ) {
            i++;
        }
        return i == name.length() && i > 2 && !name.contains(TWICE); // "." and ".." are directories
    }

    private String replacement(char c, int index, String problem, NameEscaping escaping) {
        if (escaping == NameEscaping.REPLACE) {
            return "_";
        } else if (c == '"') {
            return "%22";
        } else if (escaping == NameEscaping.BROWSER && (c == '\r' || c == '\n')) {
            return c == '\r' ? "%0D" : "%0A";
        }
        throw rejection("has " + problem + " at index " + index);
    }

    private IllegalArgumentException rejection(String problem) {
        return new IllegalArgumentException("the " + kind.label + " " + problem
                + ", on which readers disagree: change it, or use NameEscaping.REPLACE");
    }

    /** {@return a description of the character at this index if it cannot be written unchanged, or null} */
    private @Nullable String problem(int i) {
        char c = text.charAt(i);
        if (isPlain(c) && c != '.' && c != 'f') {
            return null;
        }
        String problem = problem(c, i);
        return problem == null && directory ? "only dots and invisible characters" : problem;
    }

    private @Nullable String problem(char c, int i) {
        boolean isEdge = i == 0 || i == text.length() - 1;
        if (Character.isISOControl(c) || c == '\u2028' || c == '\u2029') {
            return "a control character";
        } else if (Character.isSurrogate(c)) {
            return isPaired(c, i) ? null : "half of a surrogate pair";
        } else if (isEdge && (Character.isSpaceChar(c) || c == '\uFEFF')) {
            return "a blank or byte order mark at its start or end";
        }
        return switch (c) {
            case '"' -> "a quote";
            case '\\' -> "a backslash";
            case ';' -> "a semicolon";
            case '/' -> kind == Kind.FILENAME || i == 0 ? "a slash" : null;
            case '[', ']' -> kind != Kind.FILE_INPUT_NAME || array ? null : "brackets other than a[b]";
            case ' ', 'f' -> kind == Kind.FILE_INPUT_NAME && hidesFilename(c, i) ? "the word filename" : null;
            case '%' -> isHex(i + 1) && isHex(i + 2) ? "a percent escape" : null;
            case '&' -> at(i + 1) == '#' ? "a character reference" : null;
            case '=' -> at(i + 1) == '?' ? "an encoded word" : endsParameter(text, i) ? "a parameter" : null;
            default -> null;
        };
    }

    private boolean isPaired(char c, int i) {
        return Character.isHighSurrogate(c)
                ? Character.isLowSurrogate(at(i + 1))
                : i > 0 && Character.isHighSurrogate(text.charAt(i - 1));
    }

    private boolean hidesFilename(char c, int i) {
        return c == 'f' ? text.startsWith(TWICE, i) : text.startsWith(FILENAME, i + 1);
    }

    /** {@return whether the name is empty, {@code .} or {@code ..} for Django, which removes characters that cannot be printed} */
    private boolean isDirectory() {
        int dots = 0;
        for (int i = 0, c; i < text.length(); i += Character.charCount(c)) {
            c = text.codePointAt(i);
            if (c == '.') {
                dots++;
            } else if (SafeFilename.isPrintable(c)) {
                return false;
            }
        }
        return dots <= 2;
    }

    private boolean isHex(int i) {
        return Character.digit(at(i), 16) >= 0;
    }

    /** {@return the character at this index, or 0 after the end} */
    private char at(int i) {
        return i < text.length() ? text.charAt(i) : 0;
    }

    /** {@return whether the text before the index ends like the name of a parameter, as in {@code filename*0* =}} */
    private static boolean endsParameter(String text, int index) {
        int end = index;
        while (end > 0 && " *0123456789".indexOf(text.charAt(end - 1)) >= 0) {
            end--;
        }
        return text.regionMatches(true, end - PARAMETER.length(), PARAMETER, 0, PARAMETER.length());
    }

    /** {@return whether PHP reads the name as an array} PHP discards a file with other brackets in its name. */
    private boolean isArray() {
        int at = text.indexOf('[');
        boolean match = at > 0 && text.lastIndexOf(']', at) < 0;
        while (match && at < text.length()) {
            int close = text.indexOf(']', at);
            match = text.charAt(at) == '[' && text.lastIndexOf('[', close) == at;
            at = close + 1;
        }
        return match;
    }
}

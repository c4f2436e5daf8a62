package dev.sluice;

import dev.sluice.buffer.Text;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The headers of a part. Immutable, thread-safe, and independent of the decoder that created it.
 *
 * <p>In a quoted parameter, {@code \"} means {@code "} and {@code \\} means {@code \}. Every other backslash is literal, so that
 * {@code C:\dir\f.txt} remains unchanged. Percent escapes are literal unless {@link MultipartOptions#decodePercentEscapes()} is set, and
 * RFC 2047 encoded words are literal unless {@link MultipartOptions#decodeEncodedWords()} is set. Text is decoded with {@link
 * MultipartOptions#headerCharset()}. Malformed bytes become U+FFFD.
 */
public final class PartHead {
    /** A header field: its name as sent, and its value without surrounding blanks and with one space in place of each fold. */
    public record Header(String name, String value) {}

    private static final int[] NO_ORIGINS = {};

    private final int index;
    private final long offset;
    private final @Nullable String name;
    private final @Nullable String filename;
    private final @Nullable String plainFilename;
    private final @Nullable String extendedFilename;

    /** The bytes of the header section. */
    private final byte[] section;

    /** The {@link HeaderSection#positions()} of names and values in the section. Shared with other parts. */
    private final int[] positions;

    private final Charset charset;

    PartHead(
            int index,
            long offset,
            @Nullable String name,
            @Nullable String filename,
            @Nullable String plainFilename,
            @Nullable String extendedFilename,
            byte[] section,
            int[] positions,
            Charset charset) {
        this.index = index;
        this.offset = offset;
        this.name = name;
        this.filename = filename;
        this.plainFilename = plainFilename;
        this.extendedFilename = extendedFilename;
        this.section = section;
        this.positions = positions;
        this.charset = charset;
    }

    /** {@return the head of this part of a nested body, with the index and the name of the outer part} */
    public PartHead within(PartHead outer) {
        return new PartHead(
                outer.index,
                outer.offset + offset,
                outer.name,
                filename,
                plainFilename,
                extendedFilename,
                section,
                positions,
                charset);
    }

    /**
     * {@return the 0-based index of the part in the body; if a form expands a nested body, its parts have the index of the outer
     * part}
     */
    public int index() {
        return index;
    }

    /** {@return the offset in the multipart body at which the body of the part starts} */
    public long offset() {
        return offset;
    }

    /**
     * {@return the {@code name} as the client sent it, which may be empty. Null only outside of {@code multipart/form-data}, if the part
     * has no name or no valid Content-Disposition}
     */
    public @Nullable String name() {
        return name;
    }

    /**
     * {@return the file name as the client sent it; empty if no file was selected; null if the part is not a file. Never use it as a
     * path: {@link #safeFilename()} is safe to show and to store}
     */
    public @Nullable String filename() {
        return filename;
    }

    /**
     * {@return a base name that is safe to show and to store, derived from {@link #filename()}: without path, control characters,
     * bidirectional characters, characters reserved by Windows and device names, and with at most 255 bytes of UTF-8. Empty if no file
     * was selected or no character remains; null if the part has no file name}
     *
     * <p>Check for an empty name before storing a file: {@code directory.resolve("")} is the directory itself.
     */
    public @Nullable String safeFilename() {
        return filename == null ? null : SafeFilename.of(filename);
    }

    /** {@return the value of the {@code filename} parameter, even if {@link #filename()} is another; null if there is none} */
    public @Nullable String plainFilename() {
        return plainFilename;
    }

    /**
     * {@return the value of the {@code filename*} parameter (RFC 8187), even if {@link #filename()} is another; null if there is none or
     * it cannot be decoded}
     */
    public @Nullable String extendedFilename() {
        return extendedFilename;
    }

    /** {@return the {@code Content-Type} as the client sent it, or null} */
    public @Nullable String contentType() {
        return value(Keyword.CONTENT_TYPE);
    }

    /** {@return the {@code Content-Type} without its parameters, in lower case, or null if there is none} */
    public @Nullable String mediaType() {
        String type = contentType();
        return type == null
                ? null
                : type.substring(0, (type + ';').indexOf(';')).strip().toLowerCase(Locale.ROOT);
    }

    /** {@return the first parameter called {@code parameter} of the {@code Content-Type}, without quotes, or null} */
    public @Nullable String contentTypeParameter(String parameter) {
        String type = contentType();
        return type == null ? null : parameter(type, parameter);
    }

    /**
     * {@return the charset of the {@code Content-Type} (RFC 7578 section 4.5); null if there is none or the platform does not support
     * it. Call {@link #contentTypeParameter} to distinguish them}
     */
    public @Nullable Charset charset() {
        String named = contentTypeParameter("charset");
        return named == null ? null : Text.charset(named);
    }

    /** {@return the {@code Content-Transfer-Encoding} as the client sent it, or null} */
    public @Nullable String transferEncoding() {
        return value(Keyword.CONTENT_TRANSFER_ENCODING);
    }

    /** {@return the number of bytes of the header section, including its blank line} */
    public int headerBytes() {
        return section.length;
    }

    // ---- header fields

    /** {@return the header fields in the order in which they were sent, including duplicates; unmodifiable} */
    public List<Header> headers() {
        Header[] headers = new Header[count()];
        for (int field = 0; field < headers.length; field++) {
            String name =
                    new String(section, nameStart(field), nameEnd(field) - nameStart(field), StandardCharsets.US_ASCII);
            headers[field] = new Header(name, text(field));
        }
        return List.of(headers);
    }

    /** {@return the values of all fields called {@code name}, in any case, in order; unmodifiable} */
    public List<String> headers(String name) {
        Keyword keyword = new Keyword(name);
        return IntStream.range(0, count())
                .filter(field -> isNamed(field, keyword))
                .mapToObj(this::text)
                .toList();
    }

    /** {@return the value of the first field called {@code name}, in any case, or null} */
    public @Nullable String header(String name) {
        return value(new Keyword(name));
    }

    /**
     * {@return the bytes of a value as a new array, for values that are malformed in the header charset}
     *
     * @param index the index of the field in {@link #headers()}
     * @throws IndexOutOfBoundsException if there is no such field
     */
    public byte[] rawHeader(int index) {
        Objects.checkIndex(index, count());
        return unfold(section, valueStart(index), valueEnd(index), NO_ORIGINS);
    }

    private int count() {
        return positions.length / HeaderSection.SLOTS;
    }

    private int position(int field, int slot) {
        int position = positions[field * HeaderSection.SLOTS + slot];
        return position < 0 ? section.length + position : position;
    }

    private int nameStart(int field) {
        return position(field, 0);
    }

    private int nameEnd(int field) {
        return position(field, 1);
    }

    private int valueStart(int field) {
        return Bytes.trimStart(section, nameEnd(field) + 1, position(field, 2));
    }

    private int valueEnd(int field) {
        return Bytes.trimEnd(section, valueStart(field), position(field, 2));
    }

    private boolean isNamed(int field, Keyword name) {
        return name.is(section, nameStart(field), nameEnd(field));
    }

    private @Nullable String value(Keyword name) {
        for (int field = 0; field < count(); field++) {
            if (isNamed(field, name)) {
                return text(field);
            }
        }
        return null;
    }

    private String text(int field) {
        return text(section, valueStart(field), valueEnd(field), position(field, 3) != 0, charset);
    }

    /** {@return the value {@code array[from..to)} as text, without folds} */
    static String text(byte[] array, int from, int to, boolean folded, Charset charset) {
        return folded
                ? new String(unfold(array, from, to, NO_ORIGINS), charset)
                : new String(array, from, to - from, charset);
    }

    /**
     * {@return a copy of {@code array[from..to)} in which each fold, with the blanks around it, is one space}
     *
     * @param origins empty, or as long as the range: receives the index in {@code array} of each byte of the result
     */
    static byte[] unfold(byte[] array, int from, int to, int[] origins) {
        byte[] unfolded = new byte[to - from];
        int size = 0;
        for (int i = from; i < to; i++) {
            byte b = array[i];
            int origin = i;
            if (Bytes.isLineEnd(b)) {
                while (Bytes.isBlank(unfolded[size - 1])) { // a value starts with neither a blank nor a fold
                    size--;
                    origin--;
                }
                boolean blanksBefore = origin < i;
                while (array[i + 1] == Bytes.LF || Bytes.isBlank(array[i + 1])) { // a value does not end with a fold
                    i++;
                    origin = !blanksBefore && !Bytes.isBlank(array[origin]) ? i : origin; // its first blank
                }
                b = ' ';
            }
            if (origins.length > 0) {
                origins[size] = origin;
            }
            unfolded[size++] = b;
        }
        return size == unfolded.length ? unfolded : Arrays.copyOf(unfolded, size);
    }

    // ---- parameters of the Content-Type

    /** {@return the value of the first parameter called {@code name}, without quotes, or null} */
    static @Nullable String parameter(String contentType, String name) {
        for (String parameter : parameters(contentType)) {
            if (parameter.regionMatches(true, 0, name + "=", 0, name.length() + 1)) {
                String value = parameter.substring(name.length() + 1);
                boolean quoted = value.length() >= 2 && value.startsWith("\"") && value.endsWith("\"");
                return quoted ? value.substring(1, value.length() - 1) : value;
            }
        }
        return null;
    }

    /** {@return the text after each semicolon, without surrounding blanks} */
    static List<String> parameters(String contentType) {
        List<String> parameters = new ArrayList<>(2);
        int end = contentType.indexOf(';');
        while (end >= 0 && end < contentType.length()) {
            int start = end + 1;
            end = endOfParameter(contentType, start);
            parameters.add(contentType.substring(start, end).strip());
        }
        return parameters;
    }

    private static int endOfParameter(String text, int from) {
        boolean quoted = false;
        for (int i = from; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"') {
                quoted = !quoted;
            } else if (c == '\\' && quoted) {
                i++;
            } else if (c == ';' && !quoted) {
                return i;
            }
        }
        return text.length();
    }

    /** {@return a builder of an exception for this part, at the start of its body; for sinks, deciders and adapters} */
    public MultipartException.Builder because(MultipartException.Reason reason) {
        return MultipartException.because(reason).part(index, name).at(offset);
    }

    /** {@return index and offset, but no names, because they come from the client and may be logged} */
    @Override
    public String toString() {
        return "PartHead[index=" + index + ", offset=" + offset + "]";
    }
}

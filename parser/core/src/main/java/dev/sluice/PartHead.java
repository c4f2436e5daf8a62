package dev.sluice;

import dev.sluice.buffer.Text;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a part when its headers have been read. Immutable, thread-safe, and independent of the decoder it comes from.
 *
 * <p>In a quoted parameter {@code \"} is {@code "} and {@code \\} is {@code \}; every other backslash is itself, so that
 * {@code C:\dir\f.txt} survives. Percent escapes are literal unless {@link MultipartOptions#decodePercentEscapes()}, RFC 2047
 * encoded words unless {@link MultipartOptions#decodeEncodedWords()}. Text is decoded in {@link MultipartOptions#headerCharset()}, undecodable bytes as U+FFFD.
 */
public final class PartHead {
    /** One header field: the name as it came; the value without the blanks around it, and with one space for each fold. */
    public record Header(String name, String value) {}

    private static final int[] NO_ORIGINS = {};

    private final int index;
    private final long offset;
    private final @Nullable String name;
    private final @Nullable String filename;
    private final @Nullable String plainFilename;
    private final @Nullable String extendedFilename;
    private final byte[] section;
    private final int typeAt;
    private final int encodingAt;
    private final Charset charset;

    /** Takes the header section, checked and complete, and where its Content-Type and transfer encoding are; -1 where not. */
    PartHead(
            int index,
            long offset,
            @Nullable String name,
            @Nullable String filename,
            @Nullable String plainFilename,
            @Nullable String extendedFilename,
            byte[] section,
            int typeAt,
            int encodingAt,
            Charset charset) {
        this.index = index;
        this.offset = offset;
        this.name = name;
        this.filename = filename;
        this.plainFilename = plainFilename;
        this.extendedFilename = extendedFilename;
        this.section = section;
        this.typeAt = typeAt;
        this.encodingAt = encodingAt;
        this.charset = charset;
    }

    /** {@return this part of a nested body as part of the body around it: with index and name of the part that it is in} */
    public PartHead within(PartHead outer) {
        return new PartHead(
                outer.index,
                outer.offset + offset,
                outer.name,
                filename,
                plainFilename,
                extendedFilename,
                section,
                typeAt,
                encodingAt,
                charset);
    }

    /**
     * {@return the 0-based index of the part in the body; the parts of a nested body that a form expands share the index of the
     * part they are in}
     */
    public int index() {
        return index;
    }

    /** {@return where the part's body starts, in bytes from the start of the multipart body} */
    public long offset() {
        return offset;
    }

    /**
     * {@return the {@code name} as the client sent it, possibly empty; compare it byte by byte. Null only outside of
     * {@code multipart/form-data}, where there is none, or no Content-Disposition that can be read}
     */
    public @Nullable String name() {
        return name;
    }

    /**
     * {@return the file name as the client sent it; empty for a file input left empty; null where there is none (a form field).
     * Never a path: use {@link #safeFilename()} to show or store it}
     */
    public @Nullable String filename() {
        return filename;
    }

    /**
     * {@return a base name that is safe to show and to store, made from {@link #filename()}: no path, control, bidirectional or
     * Windows-reserved characters, no device name, at most 255 bytes of UTF-8; empty for a file input left empty, or if no
     * character is left; null if there is no file name}
     *
     * <p>Check for an empty name before storing a file: {@code directory.resolve("")} is the directory itself.
     */
    public @Nullable String safeFilename() {
        return filename == null ? null : SafeFilename.of(filename);
    }

    /** {@return what {@code filename} says, whether or not it is the {@link #filename()}; null where there is none} */
    public @Nullable String plainFilename() {
        return plainFilename;
    }

    /**
     * {@return what {@code filename*} says (RFC 8187), whether or not it is the {@link #filename()}; null where there is none that
     * can be decoded}
     */
    public @Nullable String extendedFilename() {
        return extendedFilename;
    }

    /** {@return the {@code Content-Type} as the client sent it, or null} */
    public @Nullable String contentType() {
        return valueAt(typeAt);
    }

    /** {@return the {@code Content-Type} without its parameters, in lower case, or null where there is none} */
    public @Nullable String mediaType() {
        String type = contentType();
        return type == null
                ? null
                : type.substring(0, (type + ';').indexOf(';')).strip().toLowerCase(Locale.ROOT);
    }

    /** {@return the first parameter called {@code parameter} of the {@code Content-Type}, quotes removed, or null} */
    public @Nullable String contentTypeParameter(String parameter) {
        String type = contentType();
        return type == null ? null : parameter(type, parameter);
    }

    /**
     * {@return the charset that the {@code Content-Type} names (RFC 7578 section 4.5); null where it names none, and where the
     * platform does not know it: {@link #contentTypeParameter} tells which}
     */
    public @Nullable Charset charset() {
        String named = contentTypeParameter("charset");
        return named == null ? null : Text.charset(named);
    }

    /** {@return the {@code Content-Transfer-Encoding} as the client sent it, or null} */
    public @Nullable String transferEncoding() {
        return valueAt(encodingAt);
    }

    /** {@return the size of the header section, its blank line included, in bytes} */
    public int headerBytes() {
        return section.length;
    }

    // ---- header fields

    /** {@return the header fields in the order in which they came, duplicates included (RFC 2046 section 5.1); unmodifiable} */
    public List<Header> headers() {
        List<Header> headers = new ArrayList<>();
        for (int at = 0; !Bytes.isLineEnd(section[at]); at = next(at)) {
            int colon = colon(at);
            headers.add(new Header(
                    new String(section, at, colon - at, StandardCharsets.US_ASCII), text(rawValue(colon + 1))));
        }
        return List.copyOf(headers);
    }

    /** {@return the values of all fields called {@code name}, in any case, in order; unmodifiable} */
    public List<String> headers(String name) {
        return headers().stream()
                .filter(header -> header.name().equalsIgnoreCase(name))
                .map(Header::value)
                .toList();
    }

    /** {@return the value of the first field called {@code name}, in any case, or null} */
    public @Nullable String header(String name) {
        List<String> values = headers(name);
        return values.isEmpty() ? null : values.get(0);
    }

    /**
     * {@return the bytes of a value, for what cannot be decoded: a new array}
     *
     * @param index of the field in {@link #headers()}
     * @throws IndexOutOfBoundsException if there is no such field
     */
    public byte[] rawHeader(int index) {
        Objects.checkIndex(index, headers().size());
        int at = 0;
        for (int i = 0; i < index; i++) {
            at = next(at);
        }
        return rawValue(colon(at) + 1);
    }

    private int colon(int from) {
        int at = from;
        while (section[at] != ':') {
            at++;
        }
        return at;
    }

    private int next(int from) {
        int end = endOfField(from);
        return end + (section[end] == Bytes.CR ? 2 : 1);
    }

    /** {@return the first line end that no blank follows} */
    private int endOfField(int from) {
        int at = from;
        while (!Bytes.isLineEnd(section[at]) || Bytes.isBlank(section[at + (section[at] == Bytes.CR ? 2 : 1)])) {
            at++;
        }
        return at;
    }

    private @Nullable String valueAt(int at) {
        return at < 0 ? null : text(rawValue(at));
    }

    private String text(byte[] value) {
        return new String(value, charset);
    }

    private byte[] rawValue(int from) {
        int start = from;
        int end = endOfField(from);
        while (start < end && Bytes.isSpace(section[start])) {
            start++;
        }
        while (end > start && Bytes.isSpace(section[end - 1])) {
            end--;
        }
        return unfold(section, start, end, NO_ORIGINS);
    }

    /**
     * {@return a copy of {@code array[from..to)} with one space for each fold and the blanks around it}
     *
     * @param origins empty, or as long as the range: receives for each byte of the result where it was
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

    /** {@return the value of the first parameter called {@code name}, quotes removed, or null} */
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

    /** {@return what stands behind each semicolon, without the blanks around it} */
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

    /** {@return a builder of what is wrong with this part, at the start of its body: for sinks, deciders and adapters} */
    public MultipartException.Builder because(MultipartException.Reason reason) {
        return MultipartException.because(reason).part(index, name).at(offset);
    }

    /** {@return index and offset: names come from the client and are not for logs} */
    @Override
    public String toString() {
        return "PartHead[index=" + index + ", offset=" + offset + "]";
    }
}

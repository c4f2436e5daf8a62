package dev.sluice;

import dev.sluice.buffer.Text;
import dev.sluice.header.HeaderFields;
import dev.sluice.header.HeaderSection;
import dev.sluice.header.Keyword;
import dev.sluice.header.PartNames;
import dev.sluice.header.SafeFilename;
import dev.sluice.header.TypeParameters;
import java.nio.charset.Charset;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The headers of a part. Immutable, thread-safe, and independent of the decoder that created it.
 *
 * <p>In a quoted parameter, {@code \"} means {@code "} and {@code \\} means {@code \}. Every other backslash is literal, so that
 * {@code C:\dir\f.txt} remains unchanged. Percent escapes are literal unless {@link MultipartOptions#decodePercentEscapes()} is set, and
 * RFC 2047 encoded words are literal unless {@link MultipartOptions#decodeEncodedWords()} is set. Text is decoded with
 * {@link MultipartOptions#headerCharset()}. Malformed bytes become U+FFFD.
 */
public final class PartHead {
    /** A header field: its name as sent, and its value without surrounding blanks. A value on several lines is joined with spaces. */
    public record Header(String name, String value) {}

    private final int index;
    private final long offset;
    private final @Nullable String name;
    private final @Nullable String filename;
    private final @Nullable String plainFilename;
    private final @Nullable String extendedFilename;

    /** The bytes of the header section. */
    private final byte[] section;

    private final HeaderFields fields;

    /** Creates the head of the part whose complete header section is in {@code section}. */
    PartHead(int index, long offset, PartNames names, HeaderSection section) {
        this.index = index;
        this.offset = offset;
        this.name = names.name();
        this.plainFilename = names.plainFilename();
        this.filename = names.filename(plainFilename);
        this.extendedFilename = names.extendedFilename();
        this.section = section.copy();
        this.fields = section.headerFields();
    }

    private PartHead(PartHead inner, PartHead outer) {
        this.index = outer.index;
        this.offset = outer.offset + inner.offset;
        this.name = outer.name;
        this.plainFilename = inner.plainFilename;
        this.filename = inner.filename;
        this.extendedFilename = inner.extendedFilename;
        this.section = inner.section;
        this.fields = inner.fields;
    }

    /**
     * {@return a copy of this head of a nested part, with the index and name of {@code outer} and the offset in the outer body}
     */
    public PartHead within(PartHead outer) {
        return new PartHead(this, outer);
    }

    /** {@return the 0-based index of the part in the body; if a form expands a nested body, its parts have the index of the outer part} */
    public int index() {
        return index;
    }

    /** {@return the offset in the multipart body at which the body of the part starts} */
    public long offset() {
        return offset;
    }

    /**
     * {@return the {@code name} as the client sent it, which may be empty. It is never null in {@code multipart/form-data}. In other types
     * it is null if the part has no name or no valid Content-Disposition}
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
     * {@return a base name that is safe to show and to store, derived from {@link #filename()}: the last element of the path, in the
     * normalization form NFKC, without control and bidirectional characters and with at most 255 bytes of UTF-8. Characters that Windows
     * reserves or that a shell reads as quotes, variables or operators become {@code _}. Windows device names and names that start with
     * {@code -} or {@code ~} get the prefix {@code _}. Empty if no file was selected or no character remains; null if the part has no file
     * name}
     *
     * <p>Check for an empty name before storing a file: {@code directory.resolve("")} is the directory itself. Quote the name in a command,
     * because it may contain blanks, brackets, {@code ^} and {@code #}.
     */
    public @Nullable String safeFilename() {
        return filename == null ? null : SafeFilename.of(filename);
    }

    /** {@return the value of the {@code filename} parameter, even if {@link #filename()} returns another value; null if there is none} */
    public @Nullable String plainFilename() {
        return plainFilename;
    }

    /**
     * {@return the value of the {@code filename*} parameter (RFC 8187), even if {@link #filename()} returns another
     * value; null if there is none or it cannot be decoded}
     */
    public @Nullable String extendedFilename() {
        return extendedFilename;
    }

    /** {@return the {@code Content-Type} as the client sent it, or null} */
    public @Nullable String contentType() {
        return fields.value(section, Keyword.CONTENT_TYPE);
    }

    /** {@return the {@code Content-Type} without its parameters, in lower case, or null if there is none} */
    public @Nullable String mediaType() {
        String type = contentType();
        return type == null
                ? null
                : type.substring(0, (type + ';').indexOf(';')).strip().toLowerCase(Locale.ROOT);
    }

    /** {@return the value of the first parameter called {@code parameter} of the {@code Content-Type}, without quotes, or null} */
    public @Nullable String contentTypeParameter(String parameter) {
        String type = contentType();
        return type == null ? null : TypeParameters.find(type, parameter);
    }

    /**
     * {@return the charset of the {@code Content-Type} (RFC 7578 section 4.5); null if there is none or the platform
     * does not support it. Call {@link #contentTypeParameter} to distinguish these cases}
     */
    public @Nullable Charset charset() {
        String named = contentTypeParameter("charset");
        return named == null ? null : Text.charset(named);
    }

    /** {@return the {@code Content-Transfer-Encoding} as the client sent it, or null} */
    public @Nullable String transferEncoding() {
        return fields.value(section, Keyword.CONTENT_TRANSFER_ENCODING);
    }

    /** {@return the number of bytes of the header section, including its blank line} */
    public int headerBytes() {
        return section.length;
    }

    // ---- header fields

    /** {@return the header fields in the order in which they were sent, including duplicates; unmodifiable} */
    public List<Header> headers() {
        return IntStream.range(0, fields.count())
                .mapToObj(field -> new Header(fields.name(section, field), fields.value(section, field)))
                .toList();
    }

    /** {@return the values of all fields with this name (case-insensitive), in order; unmodifiable} */
    public List<String> headers(String name) {
        Keyword keyword = new Keyword(name);
        return IntStream.range(0, fields.count())
                .filter(field -> fields.isNamed(section, field, keyword))
                .mapToObj(field -> fields.value(section, field))
                .toList();
    }

    /** {@return the value of the first field with this name (case-insensitive), or null if there is none} */
    public @Nullable String header(String name) {
        return fields.value(section, new Keyword(name));
    }

    /**
     * {@return the bytes of a value as a new array, for values that are malformed in the header charset}
     *
     * @param index the index of the field in {@link #headers()}
     * @throws IndexOutOfBoundsException if there is no such field
     */
    public byte[] rawHeader(int index) {
        return fields.rawValue(section, index);
    }

    /**
     * {@return a builder of an exception that names this part and the offset at which its body starts; for sinks, deciders and adapters}
     */
    public MultipartException.Builder because(MultipartException.Reason reason) {
        return MultipartException.because(reason).part(index, name).at(offset);
    }

    /** {@return the index and the offset, but no names, because client input does not belong in logs} */
    @Override
    public String toString() {
        return "PartHead[index=" + index + ", offset=" + offset + "]";
    }
}

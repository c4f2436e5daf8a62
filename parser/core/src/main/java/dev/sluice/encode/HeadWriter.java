package dev.sluice.encode;

import dev.sluice.Boundary;
import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartDecoder.Event;
import dev.sluice.MultipartException;
import dev.sluice.MultipartOptions;
import dev.sluice.NameEscaping;
import dev.sluice.PartHead.Header;
import dev.sluice.Preset;
import dev.sluice.header.Bytes;
import dev.sluice.header.TypeParameters;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A writer of delimiters and header sections to heap buffers. Not thread-safe.
 *
 * <p>If a name or header is rejected, the part is not begun. The bytes written for it, after the mark of the buffer's writer index, are
 * discarded by the next call. A usual name is checked and written in one pass. Other names are checked by {@link QuotedName}, and a plain
 * media type by its grammar. All other headers are written, decoded again with {@link Preset#STRICT}, and rejected if the result differs
 * from the headers passed. This also prevents header injection.
 */
public final class HeadWriter {
    /** The maximum number of bytes of a header section: the default limit of the decoder. Some readers have lower limits. */
    private static final int MAX_SIZE = 8 * 1024;

    private static final String DISPOSITION = "Content-Disposition";
    private static final String TYPE = "Content-Type";
    private static final String CHARSET = "charset";
    static final String BINARY = "application/octet-stream";

    private static final byte[] BEFORE_NAME = ascii(DISPOSITION + ": form-data; name=\"");
    private static final byte[] BEFORE_FILENAME = ascii("\"; filename=\"");
    private static final byte[] BEFORE_TYPE = ascii("\"\r\n" + TYPE + ": ");
    private static final byte[] AFTER_NAME = ascii("\"\r\n\r\n");
    private static final byte[] AFTER_EMPTY_INPUT = ascii("\"; filename=\"\"\r\n" + TYPE + ": " + BINARY + "\r\n\r\n");
    private static final byte[] BLANK_LINE = ascii("\r\n\r\n");
    private static final byte[] CLOSE = ascii("--\r\n");

    private static final MultipartOptions STRICT =
            MultipartOptions.builder().preset(Preset.STRICT).build();

    /** The boundary of a form that is created only to check a media type. */
    private static final Boundary FORM = Boundary.of("x");

    private final Boundary boundary;

    /** {@code CRLF "--" boundary CRLF}, which begins each part. The first part has no CRLF before it. */
    private final byte[] delimiter;

    /** The index in {@link #delimiter} of the first byte to write before the next part. */
    private int delimiterStart = 2;

    /** The last media type that was accepted. */
    private String acceptedType = "text/plain";

    public HeadWriter(Boundary boundary) {
        this.boundary = boundary;
        this.delimiter = ascii("\r\n--" + boundary.value() + "\r\n");
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /** Writes the start of a part of a form. Throws if a reader could understand a value differently from the caller. */
    public void form(
            ByteBuf out, String name, @Nullable String filename, @Nullable String contentType, NameEscaping escaping) {
        int start = begin(out, true);
        out.writeBytes(BEFORE_NAME);
        if (filename == null) {
            write(out, name, QuotedName.Kind.FIELD_NAME, escaping);
        } else {
            write(out, name, QuotedName.Kind.FILE_INPUT_NAME, escaping);
            out.writeBytes(BEFORE_FILENAME);
            write(out, filename, QuotedName.Kind.FILENAME, escaping);
        }
        if (contentType == null) {
            out.writeBytes(AFTER_NAME);
        } else {
            checkType(contentType, filename == null);
            out.writeBytes(BEFORE_TYPE).writeBytes(utf8(contentType)).writeBytes(BLANK_LINE);
        }
        accept(out, start);
    }

    /** Writes the part that browsers send for a file input that was left empty. No content may follow. */
    public void emptyFileInput(ByteBuf out, String name, NameEscaping escaping) {
        int start = begin(out, true);
        out.writeBytes(BEFORE_NAME);
        write(out, name, QuotedName.Kind.FILE_INPUT_NAME, escaping);
        out.writeBytes(AFTER_EMPTY_INPUT);
        accept(out, start);
    }

    /** Writes the start of a part with these headers. Throws if {@link Preset#STRICT} would not read back the same headers. */
    public void section(ByteBuf out, List<Header> headers) {
        int start = begin(out, false);
        out.writeBytes(checked(boundary, headers));
        accept(out, start);
    }

    /** {@return the index of the header section, after writing the delimiter} */
    private int begin(ByteBuf out, boolean hasName) {
        if (hasName != boundary.isFormData()) {
            throw new IllegalStateException(
                    hasName
                            ? "the body is not a form: pass the headers of the part instead of a name"
                            : "the body is a form: pass the name of the part instead of its headers");
        }
        out.resetWriterIndex();
        out.writeBytes(delimiter, delimiterStart, delimiter.length - delimiterStart);
        return out.writerIndex();
    }

    private void accept(ByteBuf out, int start) {
        int size = out.writerIndex() - start;
        if (size > MAX_SIZE) {
            throw new IllegalArgumentException("the headers of the part have " + size
                    + " bytes, more than most readers accept: use a shorter name");
        }
        delimiterStart = 0;
        out.markWriterIndex();
    }

    /** Writes the close-delimiter. */
    public void end(ByteBuf out) {
        out.resetWriterIndex();
        out.writeBytes(delimiter, delimiterStart, delimiter.length - delimiterStart - 2)
                .writeBytes(CLOSE);
    }

    private static void write(ByteBuf out, String name, QuotedName.Kind kind, NameEscaping escaping) {
        int length = name.length();
        byte[] bytes = out.ensureWritable(length).array();
        int at = out.arrayOffset() + out.writerIndex();
        int i = 0;
        for (char c; i < length && QuotedName.isPlain(c = name.charAt(i)); i++) {
            bytes[at + i] = (byte) c;
        }
        if (!QuotedName.isUsual(name, i)) {
            out.writeBytes(utf8(QuotedName.of(name, kind, escaping)));
        } else if (i < length) {
            ByteBufUtil.writeUtf8(out, name);
        } else {
            out.writerIndex(out.writerIndex() + length);
        }
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** {@return the media type of a part with these headers, without its parameters} */
    public static String mediaType(List<Header> headers) {
        for (Header header : headers) {
            if (header.name().equalsIgnoreCase(TYPE)) {
                return withoutParameters(header.value());
            }
        }
        return "text/plain";
    }

    private void checkType(String contentType, boolean isField) {
        if (!contentType.equals(acceptedType)) {
            checkNewType(contentType);
            acceptedType = contentType;
        }
        if (isField && isBinary(contentType)) {
            throw new IllegalArgumentException("some readers take a field of the type " + BINARY
                    + " for a file, and discard it: use another type, or give it a file name");
        }
    }

    private static boolean isBinary(String contentType) {
        return contentType.toLowerCase(Locale.ROOT).startsWith(BINARY);
    }

    /**
     * Checks a media type, whose parameters must be acceptable to {@link Preset#STRICT}. Even the charset of a file must be acceptable for
     * a field, because some readers use it when they search for the delimiter.
     */
    private static void checkNewType(String contentType) {
        String plain = withoutParameters(contentType);
        if (plain.regionMatches(true, 0, "message/", 0, 8)) {
            throw new IllegalArgumentException(
                    "some readers parse a message within a form: send it as application/octet-stream");
        } else if (plain.length() < contentType.length() || plain.regionMatches(true, 0, "multipart/", 0, 10)) {
            checked(FORM, List.of(new Header(DISPOSITION, "form-data; name=\"a\""), new Header(TYPE, contentType)));
        }
    }

    /**
     * {@return the media type with its charset as the only parameter, if {@link #form} accepts it; otherwise a neutral type, which for a
     * field is null}
     */
    static @Nullable String replacement(String contentType, boolean isField) {
        int semicolon = contentType.indexOf(';');
        String plain = semicolon < 0
                ? contentType
                : contentType.substring(0, semicolon).strip();
        String charset = TypeParameters.find(contentType, CHARSET);
        boolean isName = charset == null || Bytes.isToken(charset);
        String kept = charset == null ? plain : plain + "; " + CHARSET + '=' + charset;
        return isName && acceptsType(kept, isField) ? kept : isField ? null : BINARY;
    }

    /** {@return whether {@link #form} accepts the media type of a field or file} */
    static boolean acceptsType(String contentType, boolean isField) {
        try {
            checkNewType(contentType);
            return !isField || !isBinary(contentType);
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** RFC 9110 permits a blank before the semicolon, but {@code mime}, the parser of many Rust servers, then finds no media type. */
    private static String withoutParameters(String contentType) {
        int semicolon = contentType.indexOf(';');
        String plain = semicolon < 0 ? contentType : contentType.substring(0, semicolon);
        int slash = plain.indexOf('/');
        if (slash < 0 || !Bytes.isToken(plain.substring(0, slash)) || !Bytes.isToken(plain.substring(slash + 1))) {
            throw new IllegalArgumentException(
                    "the media type is malformed, or has a blank before its semicolon: pass a"
                            + " type such as text/plain; charset=utf-8");
        }
        return plain;
    }

    /** {@return the header section with these fields} Throws unless {@link Preset#STRICT} reads back the same fields. */
    private static byte[] checked(Boundary boundary, List<Header> headers) {
        StringBuilder text = new StringBuilder();
        for (Header header : headers) {
            if (header.name().equalsIgnoreCase("Content-Length")) {
                throw new IllegalArgumentException("a part must not have a Content-Length: readers do not agree on it");
            }
            text.append(header.name()).append(": ").append(header.value()).append("\r\n");
        }
        byte[] section = utf8(text.append("\r\n").toString());
        String problem = "a value contains a line end, or begins or ends with a blank";
        try {
            if (headers.equals(decoded(boundary, section))) {
                return section;
            }
        } catch (MultipartException e) {
            problem = Objects.requireNonNullElse(e.getMessage(), "");
        }
        throw new IllegalArgumentException("readers do not agree on the headers of the part: " + problem);
    }

    /** {@return the fields of the only part of a body with this boundary and header section} */
    private static List<Header> decoded(Boundary boundary, byte[] section) throws MultipartException {
        ByteBuf start = Unpooled.wrappedBuffer(ascii("--" + boundary.value() + "\r\n"));
        ByteBuf end = Unpooled.wrappedBuffer(ascii("\r\n--" + boundary.value() + "--\r\n"));
        List<Header> headers = new ArrayList<>();
        try (MultipartDecoder decoder = MultipartDecoder.create(boundary, STRICT)) {
            decoder.feed(Unpooled.wrappedBuffer(start, Unpooled.wrappedBuffer(section), end));
            for (Event event; (event = decoder.next()) != Event.NEED_INPUT; ) {
                if (event == Event.PART_BEGIN) {
                    headers.addAll(decoder.head().headers());
                }
            }
        }
        return headers;
    }
}

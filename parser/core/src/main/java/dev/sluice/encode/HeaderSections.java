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
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The header sections of parts, as bytes that end with the blank line.
 *
 * <p>Everything a caller passes is checked before it is written. Names are checked by {@link QuotedName}, and a plain media type by its
 * grammar. All other headers are decoded with {@link Preset#STRICT}, and must be what the caller has passed. That is also the check
 * against header injection.
 */
public final class HeaderSections {
    /** The default limit of the decoder. Other readers have similar ones. */
    private static final int MAX_SIZE = 8 * 1024;

    private static final String FORM_DATA = "multipart/form-data";
    private static final String DISPOSITION = "Content-Disposition";
    private static final String TYPE = "Content-Type";

    private static final MultipartOptions STRICT =
            MultipartOptions.builder().preset(Preset.STRICT).build();

    private HeaderSections() {}

    /** {@return the header section of a part of a form} Throws if a reader could read something else than was passed. */
    public static byte[] form(
            String name, @Nullable String filename, @Nullable String contentType, NameEscaping escaping) {
        QuotedName.Kind kind = filename == null ? QuotedName.Kind.FIELD_NAME : QuotedName.Kind.FILE_INPUT_NAME;
        String quoted = QuotedName.of(name, kind, escaping);
        if (filename != null) {
            quoted += "\"; filename=\"" + QuotedName.of(filename, QuotedName.Kind.FILENAME, escaping);
        }
        String end = "\"\r\n\r\n";
        if (contentType != null) {
            checkType(contentType);
            end = "\"\r\n" + TYPE + ": " + contentType + "\r\n\r\n";
        }
        return bytes(DISPOSITION + ": form-data; name=\"" + quoted + end);
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

    /** Checks a media type. Its charset must be valid for a field too, because some readers search for the delimiter in it. */
    private static void checkType(String contentType) {
        String plain = withoutParameters(contentType);
        if (plain.length() < contentType.length() || isMultipart(plain)) {
            section(
                    FORM_DATA,
                    List.of(new Header(DISPOSITION, "form-data; name=\"a\""), new Header(TYPE, contentType)));
        }
    }

    private static String withoutParameters(String contentType) {
        int semicolon = contentType.indexOf(';');
        String plain = semicolon < 0 ? contentType : contentType.substring(0, semicolon);
        int slash = plain.indexOf('/');
        if (slash < 0 || !isToken(plain, 0, slash) || !isToken(plain, slash + 1, plain.length())) {
            throw new IllegalArgumentException("the media type is malformed: pass a type such as text/plain");
        }
        return plain;
    }

    private static boolean isMultipart(String type) {
        return type.toLowerCase(Locale.ROOT).startsWith("multipart/");
    }

    private static boolean isToken(String text, int from, int to) {
        for (int i = from; i < to; i++) {
            if (!Bytes.isToken(text.charAt(i))) {
                return false;
            }
        }
        return from < to;
    }

    /** {@return the header section with these fields} Throws if {@link Preset#STRICT} does not read the same fields. */
    public static byte[] section(String mediaType, List<Header> headers) {
        StringBuilder text = new StringBuilder();
        for (Header header : headers) {
            if (header.name().equalsIgnoreCase("Content-Length")) {
                throw new IllegalArgumentException("a part must not have a Content-Length: readers do not agree on it");
            }
            text.append(header.name()).append(": ").append(header.value()).append("\r\n");
        }
        byte[] bytes = bytes(text.append("\r\n").toString());
        String problem = "a line end, or blanks at the ends of a value";
        try {
            if (headers.equals(decoded(mediaType, bytes))) {
                return bytes;
            }
        } catch (MultipartException e) {
            problem = Objects.requireNonNullElse(e.getMessage(), "");
        }
        throw new IllegalArgumentException("readers do not agree on the headers of the part: " + problem);
    }

    /** {@return the fields of the only part of a body with this header section} */
    private static List<Header> decoded(String mediaType, byte[] section) throws MultipartException {
        ByteBuf start = Unpooled.copiedBuffer("--x\r\n", StandardCharsets.US_ASCII);
        ByteBuf end = Unpooled.copiedBuffer("\r\n--x--\r\n", StandardCharsets.US_ASCII);
        Boundary boundary = Boundary.anyMultipart(mediaType + "; boundary=x", Preset.STRICT);
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

    private static byte[] bytes(String section) {
        byte[] bytes = section.getBytes(StandardCharsets.UTF_8);
        if (bytes.length > MAX_SIZE) {
            throw new IllegalArgumentException("the headers of the part have " + bytes.length
                    + " bytes, more than most readers accept: use a shorter name");
        }
        return bytes;
    }
}

package dev.sluice;

import dev.sluice.buffer.Delimiter;
import dev.sluice.encode.RandomBoundary;
import dev.sluice.header.Bytes;
import dev.sluice.header.ContentTypeParser;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The boundary of a multipart body, from its {@code Content-Type} (RFC 2046 section 5.1.1). Immutable and thread-safe.
 *
 * <p>A {@code boundary} parameter is accepted only if all parsers would read the same value: it occurs once, without blanks around
 * {@code =}, and no other parameter has a name that begins with {@code boundary}. Its value has 1 to 70 characters, does not end with a
 * space, and is quoted completely or not at all. A {@link Preset} may accept more.
 */
public final class Boundary {
    private final ContentTypeParser.Result type;
    private final Delimiter delimiter;

    private Boundary(ContentTypeParser.Result type) {
        NettyVersion.require();
        this.type = type;
        this.delimiter = Delimiter.of(type.boundary().getBytes(StandardCharsets.US_ASCII));
    }

    /** {@return the result of {@link #formData(String, Preset)} with {@link Preset#STANDARD}} */
    public static Boundary formData(@Nullable String contentType) throws MultipartException {
        return formData(contentType, Preset.STANDARD);
    }

    /**
     * {@return the boundary of a {@code multipart/form-data} body, read from the value of its {@code Content-Type} header field}
     *
     * @param contentType the field value, or null if the request has no such field
     * @param preset decides which deviations are accepted
     * @throws MultipartException if the type is not {@code multipart/form-data} (415), or the boundary is missing or not acceptable; the
     *     offset of the exception is -1
     */
    public static Boundary formData(@Nullable String contentType, Preset preset) throws MultipartException {
        return new Boundary(ContentTypeParser.parse(contentType, preset, true));
    }

    /** {@return the result of {@link #anyMultipart(String, Preset)} with {@link Preset#STANDARD}} */
    public static Boundary anyMultipart(@Nullable String contentType) throws MultipartException {
        return anyMultipart(contentType, Preset.STANDARD);
    }

    /**
     * {@return the boundary of a {@code multipart} body of any subtype, read from the value of its {@code Content-Type} header field}
     *
     * <p>Use {@link #formData(String, Preset)} for forms. With this method the sender chooses the subtype. Parts without a name are
     * accepted unless the subtype is {@code form-data}.
     *
     * @param contentType the field value, or null if the request has no such field
     * @param preset decides which deviations are accepted
     * @throws MultipartException if the type is not {@code multipart} (415), or the boundary is missing or not acceptable; the offset of
     *     the exception is -1
     */
    public static Boundary anyMultipart(@Nullable String contentType, Preset preset) throws MultipartException {
        return new Boundary(ContentTypeParser.parse(contentType, preset, false));
    }

    /**
     * {@return the boundary of a {@code multipart/form-data} body whose Content-Type is not available}
     *
     * @param value 1 to 70 {@code bchars} of RFC 2046, not ending with a space
     * @throws IllegalArgumentException if {@code value} is not a boundary of RFC 2046
     */
    public static Boundary of(String value) {
        try {
            return new Boundary(ContentTypeParser.formData(value));
        } catch (MultipartException e) {
            throw new IllegalArgumentException(e.getMessage() + "; pass 1 to 70 RFC 2046 bchars", e);
        }
    }

    /**
     * {@return a new boundary with 128 random bits, for a body that will be written}
     *
     * @param mediaType the type of the body, such as {@code multipart/form-data}
     * @throws IllegalArgumentException if {@code mediaType} is not {@code multipart}, or has parameters
     */
    public static Boundary random(String mediaType) {
        String value = RandomBoundary.next();
        // Skips the parser for the usual type, to save time for small forms.
        return mediaType.equals(ContentTypeParser.FORM_DATA)
                ? new Boundary(new ContentTypeParser.Result(value, mediaType, List.of()))
                : of(value, mediaType);
    }

    static Boundary of(String value, String mediaType) {
        try {
            ContentTypeParser.formData(value); // rejects a quote in the value, which would end the parameter
            Boundary boundary = anyMultipart(mediaType + "; boundary=\"" + value + "\"", Preset.STRICT);
            if (boundary.mediaType().equalsIgnoreCase(mediaType)) {
                return boundary;
            }
        } catch (MultipartException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
        throw new IllegalArgumentException("the media type has parameters or blanks: pass only the type and subtype");
    }

    /** {@return the boundary, without the two dashes that precede it in the body} */
    public String value() {
        return type.boundary();
    }

    /** {@return type and subtype in lower case, such as {@code multipart/form-data}} */
    public String mediaType() {
        return type.mediaType();
    }

    /**
     * {@return the Content-Type of a body with this boundary}
     *
     * @param parameters other parameters, each with a semicolon before it
     */
    String contentType(String parameters) {
        String value = value();
        return mediaType() + parameters + "; boundary=" + (Bytes.isToken(value) ? value : '"' + value + '"');
    }

    /** {@return whether the body is {@code multipart/form-data}; if so, the rules of RFC 7578 apply to its parts} */
    public boolean isFormData() {
        return mediaType().equals(ContentTypeParser.FORM_DATA);
    }

    /** {@return the reported deviations of the Content-Type; their offset and part index are -1} */
    public List<ReportedDeviation> deviations() {
        return type.deviations();
    }

    Delimiter delimiter() {
        return delimiter;
    }

    /** {@return the boundary's value} */
    @Override
    public String toString() {
        return value();
    }
}

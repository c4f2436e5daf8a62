package dev.sluice;

import dev.sluice.MultipartException.Reason;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A {@code Content-Disposition} of a part (RFC 7578 section 4.2). Immutable and thread-safe.
 *
 * <p>In a quoted value {@code \"} is {@code "} and {@code \\} is {@code \}; every other backslash is itself, so that
 * {@code C:\dir\f.txt} survives. Percent escapes are literal unless {@link MultipartOptions#decodePercentEscapes()}; RFC 2047
 * encoded words are always literal.
 */
public final class ContentDisposition {
    private final String type;
    private final @Nullable String name;
    private final @Nullable String filename;
    private final byte @Nullable [] rawName;
    private final byte @Nullable [] rawFilename;

    private ContentDisposition(DispositionParser parsed, byte[] bytes, MultipartOptions options) {
        this.type = new String(bytes, parsed.typeStart, parsed.typeEnd - parsed.typeStart, StandardCharsets.US_ASCII)
                .toLowerCase(Locale.ROOT);
        this.name = parsed.hasName() ? escapes(parsed.name(options.headerCharset()), options) : null;
        this.rawName = parsed.hasName() ? parsed.rawName() : null;
        this.rawFilename = parsed.hasFilename() ? parsed.rawFilename() : null;
        this.filename = filename(parsed, options);
    }

    /**
     * Reads a field value by {@link Preset#STANDARD}.
     *
     * @throws MultipartException as {@link #parse(String, MultipartOptions)}
     */
    public static ContentDisposition parse(String value) throws MultipartException {
        return parse(value, MultipartOptions.defaults());
    }

    /**
     * Reads a field value: the grammar alone. Whether a name is there, and what becomes of {@code filename*}, is decided by the decoder,
     * for parts of a form-data body.
     *
     * @param value the field value
     * @param options preset and header charset
     * @return the disposition
     * @throws MultipartException if it breaks the grammar; its offset counts bytes of {@code value} in the header charset
     */
    public static ContentDisposition parse(String value, MultipartOptions options) throws MultipartException {
        byte[] bytes = Objects.requireNonNull(value, "value").getBytes(options.headerCharset());
        for (int i = 0; i < bytes.length; i++) {
            if (!Bytes.isValue(bytes[i])) { // in a body the header section has been checked for these before
                throw new MultipartException(
                        Reason.MALFORMED_HEADER, i, -1, "Content-Disposition: a control byte (offset " + i + ")");
            }
        }
        DispositionParser parser = new DispositionParser(options.preset());
        Reason refused = parser.parse(bytes, 0, bytes.length);
        if (refused != null) {
            throw new MultipartException(
                    refused,
                    parser.errorAt,
                    -1,
                    "Content-Disposition: " + parser.errorDetail + " (offset " + parser.errorAt + ")");
        }
        return new ContentDisposition(parser, bytes, options);
    }

    /** {@return the disposition, or null where it breaks the grammar} */
    static @Nullable ContentDisposition ofChecked(byte[] bytes, MultipartOptions options) {
        MultipartOptions anyType = options.toBuilder()
                .preset(options.preset().accepting(Deviation.DISPOSITION_TYPE))
                .build();
        DispositionParser parser = new DispositionParser(anyType.preset());
        return parser.parse(bytes, 0, bytes.length) == null ? new ContentDisposition(parser, bytes, options) : null;
    }

    /** {@return the file name that {@code parsed} comes to, or null} */
    static @Nullable String filename(DispositionParser parsed, MultipartOptions options) {
        if (parsed.extendedFilenameAt >= 0 && (!parsed.hasFilename() || parsed.filenameIsEncodedWord())) {
            String extended = parsed.extendedFilename();
            if (extended != null) {
                return extended;
            }
        }
        if (parsed.hasFilename()) {
            return escapes(parsed.filename(options.headerCharset()), options);
        }
        return parsed.continuationAt >= 0 && joinsContinuations(options.preset())
                ? parsed.joinedFilename(options.headerCharset())
                : null;
    }

    /** Continuations are joined where they are taken as a matter of course, and ignored where they are an oddity. */
    private static boolean joinsContinuations(Preset preset) {
        return preset.accepts(Deviation.PARAMETER_CONTINUATION) && !preset.reports(Deviation.PARAMETER_CONTINUATION);
    }

    private static String escapes(String text, MultipartOptions options) {
        return options.decodePercentEscapes() ? DispositionParser.decodePercentEscapes(text) : text;
    }

    /** {@return the disposition type in lower case, such as {@code form-data}} */
    public String type() {
        return type;
    }

    /** {@return the {@code name}, possibly empty, or null where there is none} */
    public @Nullable String name() {
        return name;
    }

    /**
     * {@return the file name as the peer sent it, or null where there is none (a form field); empty where a file input was left
     * empty. Never a path: use {@link #safeFilename()} to show or store it}
     */
    public @Nullable String filename() {
        return filename;
    }

    /**
     * {@return a base name that is safe to show and to store, made from {@link #filename()}: no path, control, bidirectional or
     * Windows-reserved characters, no device name, at most 255 bytes of UTF-8; empty where nothing is left; null where there is
     * no file name}
     */
    public @Nullable String safeFilename() {
        return filename == null ? null : SafeFilename.of(filename);
    }

    /** {@return the bytes of the {@code name} parameter, escapes undone (a new array), or null} */
    public byte @Nullable [] rawName() {
        return rawName == null ? null : rawName.clone();
    }

    /** {@return the bytes of the {@code filename} parameter, escapes undone (a new array), or null} */
    public byte @Nullable [] rawFilename() {
        return rawFilename == null ? null : rawFilename.clone();
    }
}

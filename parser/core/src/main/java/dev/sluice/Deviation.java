package dev.sluice;

import static dev.sluice.Deviation.Verdict.ACCEPTED;
import static dev.sluice.Deviation.Verdict.REFUSED;
import static dev.sluice.Deviation.Verdict.REPORTED;

import dev.sluice.MultipartException.Reason;

/**
 * A way in which a body departs from what RFC 2046, RFC 7578 and every mainstream client agree on.
 *
 * <p>What happens to each is decided by a {@link Preset}: it is accepted, accepted and reported through
 * {@link MultipartDecoder#deviations()}, or refused with the {@link MultipartException.Reason} named here.
 */
public enum Deviation {
    /** A boundary with visible ASCII outside RFC 2046 {@code bchars}, quoted or not, such as {@code *****} (Android), or one that needs quotes. */
    BOUNDARY_CHARACTERS(Reason.INVALID_BOUNDARY, REFUSED, REPORTED, ACCEPTED),
    /** A boundary of more than 70 and at most 256 characters (RFC 2046 section 5.1.1 allows 70). */
    LONG_BOUNDARY(Reason.INVALID_BOUNDARY, REFUSED, REFUSED, ACCEPTED),
    /**
     * The word {@code boundary} where some readers find another boundary: in the name or value of another parameter, as in
     * {@code xboundary} and {@code x="; boundary=y"}; in the boundary itself, as in {@code "boundary=y"} and {@code boundary}; or a
     * backslash in another quoted parameter.
     */
    LOOKALIKE_BOUNDARY(Reason.INVALID_BOUNDARY, REFUSED, REPORTED, ACCEPTED),
    /** A comma for the semicolon behind the media type, as in an example of RFC 1867. */
    COMMA_AFTER_MEDIA_TYPE(Reason.MISSING_BOUNDARY, REFUSED, REFUSED, REPORTED),
    /**
     * A {@code charset} of the request's {@code Content-Type} other than UTF-8 and US-ASCII. RFC 7578 has no such parameter: it is never
     * used, but some readers decode names by it.
     */
    REQUEST_CHARSET(Reason.UNKNOWN_CHARSET, REFUSED, REPORTED, REPORTED),
    /** Bytes other than one CRLF before the first delimiter. */
    PREAMBLE(Reason.PREAMBLE, REFUSED, REPORTED, ACCEPTED),
    /** Bytes other than one CRLF after the close-delimiter. */
    EPILOGUE(Reason.EPILOGUE, REFUSED, REPORTED, ACCEPTED),
    /** Spaces or tabs after a delimiter or close-delimiter (transport padding, at most 256 bytes); some readers see no delimiter there. */
    TRANSPORT_PADDING(Reason.MALFORMED_DELIMITER, REFUSED, REPORTED, ACCEPTED),
    /**
     * The boundary with its two dashes behind a CR or LF alone, in a part's body or the preamble: data here, a delimiter for
     * some readers. Behind an LF it is one where {@link #BARE_LF} is accepted.
     */
    LOOKALIKE_DELIMITER(Reason.MALFORMED_DELIMITER, REFUSED, REPORTED, ACCEPTED),
    /** A line of a header section that begins as a delimiter does: a header field, if it is one. */
    DELIMITER_IN_HEADER(Reason.MALFORMED_DELIMITER, REFUSED, REFUSED, REPORTED),
    /** A part without a line end between its header section and the delimiter behind it: an empty body. */
    SHARED_LINE_END(Reason.MALFORMED_DELIMITER, REFUSED, REPORTED, ACCEPTED),
    /** A delimiter followed by something else than transport padding, CRLF or {@code --}: taken as data, or as preamble text. */
    FALSE_DELIMITER(Reason.MALFORMED_DELIMITER, REFUSED, REFUSED, ACCEPTED),
    /** A close-delimiter followed by something else than padding, CRLF or the end: what follows is epilogue. */
    TEXT_AFTER_CLOSE_DELIMITER(Reason.MALFORMED_DELIMITER, REFUSED, REFUSED, ACCEPTED),
    /** A preamble followed at once by the close-delimiter, so that nothing was a part. */
    CLOSE_DELIMITER_AFTER_PREAMBLE(Reason.MALFORMED_DELIMITER, REFUSED, REFUSED, ACCEPTED),
    /** LF without CR as the line end after a delimiter; before one it is data where it is not accepted. */
    BARE_LF(Reason.MALFORMED_DELIMITER, REFUSED, REFUSED, REPORTED),
    /** LF without CR as a line end in a header section. */
    BARE_LF_IN_HEADER(Reason.MALFORMED_HEADER, REFUSED, REFUSED, REPORTED),
    /** A header field continued on the next line (RFC 5322 section 2.2.3); each fold is read as one space. */
    FOLDED_HEADER(Reason.MALFORMED_HEADER, REFUSED, REPORTED, ACCEPTED),
    /** Control characters but NUL, CR and LF in a quoted value of a {@code Content-Disposition}, as browsers send them. */
    CONTROL_IN_DISPOSITION(Reason.MALFORMED_HEADER, REFUSED, REPORTED, ACCEPTED),
    /** A {@code Content-Length} of a part that is no number, stands twice, or is not the size of the body as it came. Never used. */
    PART_CONTENT_LENGTH(Reason.MALFORMED_HEADER, REFUSED, REPORTED, ACCEPTED),
    /** A {@code Content-Transfer-Encoding} other than 7bit, 8bit or binary (deprecated by RFC 7578 section 4.7). */
    TRANSFER_ENCODING(Reason.UNSUPPORTED_TRANSFER_ENCODING, REFUSED, REPORTED, ACCEPTED),
    /** Bytes in a header field value that are not valid in the header charset: read as U+FFFD. */
    UNDECODABLE_HEADER(Reason.MALFORMED_HEADER, REFUSED, REPORTED, REPORTED),
    /** A disposition type other than {@code form-data} in a form-data body, such as {@code attachment}. */
    DISPOSITION_TYPE(Reason.MALFORMED_CONTENT_DISPOSITION, REFUSED, REFUSED, REPORTED),
    /** Malformed {@code Content-Disposition} parameters that still have one reading only. */
    DISPOSITION_SYNTAX(Reason.MALFORMED_CONTENT_DISPOSITION, REFUSED, REFUSED, REPORTED),
    /**
     * A {@code Content-Disposition} parameter that readers take apart otherwise: an unquoted value that is no token, an unknown
     * parameter without a value, or an empty one.
     */
    LOOSE_PARAMETER(Reason.MALFORMED_CONTENT_DISPOSITION, REFUSED, REPORTED, ACCEPTED),
    /** An unknown {@code Content-Disposition} parameter that occurs twice, in any case: some readers then find no name at all. */
    REPEATED_PARAMETER(Reason.DUPLICATE_PARAMETER, REFUSED, REPORTED, ACCEPTED),
    /**
     * An unknown {@code Content-Disposition} parameter that some readers take for the name or file name: one with {@code *} in its
     * name, such as {@code filename*x}, or one that ends in {@code name} or {@code filename} after a character that is not a letter,
     * such as {@code x-filename}.
     */
    LOOKALIKE_PARAMETER(Reason.MALFORMED_CONTENT_DISPOSITION, REFUSED, REPORTED, ACCEPTED),
    /** A name or file name that begins with the byte order mark of UTF-8, which some readers remove. */
    BYTE_ORDER_MARK(Reason.MALFORMED_CONTENT_DISPOSITION, REFUSED, REPORTED, ACCEPTED),
    /** Two backslashes in a quoted value, read as one. */
    ESCAPED_BACKSLASH(Reason.MALFORMED_CONTENT_DISPOSITION, REFUSED, REPORTED, ACCEPTED),
    /** Another backslash in a quoted value: before a quote it escapes it, else it is itself. */
    BACKSLASH(Reason.MALFORMED_CONTENT_DISPOSITION, REFUSED, ACCEPTED, ACCEPTED),
    /** A name or file name of RFC 2047 encoded words: itself, or decoded where {@link MultipartOptions#decodeEncodedWords()}. */
    ENCODED_WORD(Reason.MALFORMED_CONTENT_DISPOSITION, ACCEPTED, ACCEPTED, REPORTED),
    /** No {@code name}, but a {@code name*} that can be decoded, which is taken. */
    EXTENDED_NAME(Reason.MISSING_NAME, REFUSED, REFUSED, REPORTED),
    /** Only {@code filename*} (RFC 8187), which RFC 7578 section 4.2 forbids: decoded. */
    EXTENDED_FILENAME(Reason.MALFORMED_CONTENT_DISPOSITION, REFUSED, REPORTED, ACCEPTED),
    /** {@code filename} and {@code filename*} with the same value. */
    TWO_FILENAMES(Reason.MALFORMED_CONTENT_DISPOSITION, ACCEPTED, REPORTED, REPORTED),
    /**
     * {@code filename} and {@code filename*} with different values: the plain one wins, unless {@link
     * MultipartOptions#preferExtendedFilename()}, or it is but a lossy form of the other.
     */
    CONFLICTING_FILENAMES(Reason.MALFORMED_CONTENT_DISPOSITION, REFUSED, REPORTED, REPORTED),
    /** A {@code filename*} that cannot be decoded beside another file name, or another extended parameter ({@code name*}): ignored. */
    UNUSABLE_EXTENDED_PARAMETER(Reason.MALFORMED_CONTENT_DISPOSITION, REFUSED, REPORTED, REPORTED),
    /**
     * RFC 2231 continuations ({@code filename*0=}): ignored beside another file name, else joined where {@link
     * MultipartOptions#joinContinuations()}.
     */
    PARAMETER_CONTINUATION(Reason.MALFORMED_CONTENT_DISPOSITION, REFUSED, REPORTED, ACCEPTED),
    /**
     * The only file name is one that cannot be read: a {@code filename*} that cannot be decoded, taken literally, or
     * continuations that are not joined, without which there is none. Others see a file there.
     */
    UNREADABLE_FILENAME(Reason.MALFORMED_CONTENT_DISPOSITION, REFUSED, REFUSED, REPORTED),
    /** A {@code multipart/*} body inside a form-data part: handed out as one opaque part. */
    NESTED_MULTIPART(Reason.UNSUPPORTED_MEDIA_TYPE, REFUSED, REPORTED, ACCEPTED),
    /** Two {@code charset} parameters in the {@code Content-Type} of a part, {@code charset*}, or a blank before its {@code =}. */
    AMBIGUOUS_CHARSET(Reason.MALFORMED_HEADER, REFUSED, REPORTED, REPORTED),
    /** A charset in which ASCII is not itself (UTF-16, EBCDIC), of a field; in {@code _charset_} it is ignored. */
    CHARSET_WITHOUT_ASCII(Reason.UNKNOWN_CHARSET, REFUSED, REPORTED, REPORTED),
    /** A {@code charset} of a field that the platform does not know: UTF-8 is used instead. */
    UNKNOWN_CHARSET(Reason.UNKNOWN_CHARSET, REFUSED, REPORTED, REPORTED);

    /** What a preset makes of a deviation: each has those of STRICT, STANDARD and COMPATIBLE. */
    enum Verdict {
        REFUSED,
        REPORTED,
        ACCEPTED
    }

    private final Reason reason;
    final Verdict strict;
    final Verdict standard;
    final Verdict compatible;

    Deviation(Reason reason, Verdict strict, Verdict standard, Verdict compatible) {
        this.reason = reason;
        this.strict = strict;
        this.standard = standard;
        this.compatible = compatible;
    }

    /** {@return the reason of the {@link MultipartException} where this deviation is refused} */
    public Reason reason() {
        return reason;
    }
}

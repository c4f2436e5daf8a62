package dev.sluice;

/**
 * A way in which a body departs from what RFC 2046, RFC 7578 and every mainstream client agree on.
 *
 * <p>What happens to each is decided by a {@link Preset}: it is accepted, accepted and reported through
 * {@link MultipartDecoder#deviations()}, or refused with the {@link MultipartException.Reason} named here.
 */
public enum Deviation {
    /** A boundary with visible ASCII outside RFC 2046 {@code bchars}, quoted or not, such as {@code *****} (Android), or one that needs quotes. */
    BOUNDARY_CHARACTERS(MultipartException.Reason.INVALID_BOUNDARY),
    /** A boundary of more than 70 and at most 256 characters (RFC 2046 section 5.1.1 allows 70). */
    LONG_BOUNDARY(MultipartException.Reason.INVALID_BOUNDARY),
    /** Another parameter in which some readers see a boundary: {@code xboundary}, {@code x="; boundary=y"}, or a backslash in quotes. */
    LOOKALIKE_BOUNDARY(MultipartException.Reason.INVALID_BOUNDARY),
    /** A comma for the semicolon behind the media type, as in an example of RFC 1867. */
    COMMA_AFTER_MEDIA_TYPE(MultipartException.Reason.MISSING_BOUNDARY),
    /** Bytes other than one CRLF before the first delimiter. */
    PREAMBLE(MultipartException.Reason.PREAMBLE),
    /** Bytes other than one CRLF after the close-delimiter. */
    EPILOGUE(MultipartException.Reason.EPILOGUE),
    /** Spaces or tabs after a delimiter or close-delimiter (transport padding, at most 256 bytes); some readers see no delimiter there. */
    TRANSPORT_PADDING(MultipartException.Reason.MALFORMED_DELIMITER),
    /**
     * The boundary with its two dashes behind a CR or LF alone, in a part's body or the preamble: data here, a delimiter for
     * some readers. Behind an LF it is one where {@link #BARE_LF} is accepted.
     */
    LOOKALIKE_DELIMITER(MultipartException.Reason.MALFORMED_DELIMITER),
    /** A line of a header section that begins as a delimiter does: a header field, if it is one. */
    DELIMITER_IN_HEADER(MultipartException.Reason.MALFORMED_DELIMITER),
    /** A part without a line end between its header section and the delimiter behind it: an empty body. */
    SHARED_LINE_END(MultipartException.Reason.MALFORMED_DELIMITER),
    /** A delimiter followed by something else than transport padding, CRLF or {@code --}: taken as data, or as preamble text. */
    FALSE_DELIMITER(MultipartException.Reason.MALFORMED_DELIMITER),
    /** A close-delimiter followed by something else than padding, CRLF or the end: what follows is epilogue. */
    TEXT_AFTER_CLOSE_DELIMITER(MultipartException.Reason.MALFORMED_DELIMITER),
    /** A preamble followed at once by the close-delimiter, so that nothing was a part. */
    CLOSE_DELIMITER_AFTER_PREAMBLE(MultipartException.Reason.MALFORMED_DELIMITER),
    /** LF without CR as the line end after a delimiter; before one it is data where it is not accepted. */
    BARE_LF(MultipartException.Reason.MALFORMED_DELIMITER),
    /** LF without CR as a line end in a header section. */
    BARE_LF_IN_HEADER(MultipartException.Reason.MALFORMED_HEADER),
    /** A header field continued on the next line (RFC 5322 section 2.2.3); each fold is read as one space. */
    FOLDED_HEADER(MultipartException.Reason.MALFORMED_HEADER),
    /** Control characters but NUL, CR and LF in a quoted value of a {@code Content-Disposition}, as browsers send them. */
    CONTROL_IN_DISPOSITION(MultipartException.Reason.MALFORMED_HEADER),
    /** A {@code Content-Length} of a part that is no number, stands twice, or is not the size of the body as it came. Never used. */
    PART_CONTENT_LENGTH(MultipartException.Reason.MALFORMED_HEADER),
    /** A {@code Content-Transfer-Encoding} other than 7bit, 8bit or binary (deprecated by RFC 7578 section 4.7). */
    TRANSFER_ENCODING(MultipartException.Reason.UNSUPPORTED_TRANSFER_ENCODING),
    /** Bytes in a header field value that are not valid in the header charset: read as U+FFFD. */
    UNDECODABLE_HEADER(MultipartException.Reason.MALFORMED_HEADER),
    /** A disposition type other than {@code form-data} in a form-data body, such as {@code attachment}. */
    DISPOSITION_TYPE(MultipartException.Reason.MALFORMED_CONTENT_DISPOSITION),
    /** Malformed {@code Content-Disposition} parameters that still have one reading only. */
    DISPOSITION_SYNTAX(MultipartException.Reason.MALFORMED_CONTENT_DISPOSITION),
    /**
     * A {@code Content-Disposition} parameter that readers take apart otherwise: an unquoted value that is no token, an unknown
     * parameter without a value, or an empty one.
     */
    LOOSE_PARAMETER(MultipartException.Reason.MALFORMED_CONTENT_DISPOSITION),
    /** Two backslashes in a quoted value, read as one. */
    ESCAPED_BACKSLASH(MultipartException.Reason.MALFORMED_CONTENT_DISPOSITION),
    /** Another backslash in a quoted value: before a quote it escapes it, else it is itself. */
    BACKSLASH(MultipartException.Reason.MALFORMED_CONTENT_DISPOSITION),
    /** A name or file name of RFC 2047 encoded words: itself, or decoded where {@link MultipartOptions#decodeEncodedWords()}. */
    ENCODED_WORD(MultipartException.Reason.MALFORMED_CONTENT_DISPOSITION),
    /** No {@code name}, but a {@code name*} that can be decoded, which is taken. */
    EXTENDED_NAME(MultipartException.Reason.MISSING_NAME),
    /** Only {@code filename*} (RFC 8187), which RFC 7578 section 4.2 forbids: decoded. */
    EXTENDED_FILENAME(MultipartException.Reason.MALFORMED_CONTENT_DISPOSITION),
    /** {@code filename} and {@code filename*} with the same value. */
    TWO_FILENAMES(MultipartException.Reason.MALFORMED_CONTENT_DISPOSITION),
    /**
     * {@code filename} and {@code filename*} with different values: the plain one wins, unless {@link
     * MultipartOptions#preferExtendedFilename()}, or it is but a lossy form of the other.
     */
    CONFLICTING_FILENAMES(MultipartException.Reason.MALFORMED_CONTENT_DISPOSITION),
    /** A {@code filename*} that cannot be decoded beside another file name, or another extended parameter ({@code name*}): ignored. */
    UNUSABLE_EXTENDED_PARAMETER(MultipartException.Reason.MALFORMED_CONTENT_DISPOSITION),
    /**
     * RFC 2231 continuations ({@code filename*0=}): ignored beside another file name, else joined where {@link
     * MultipartOptions#joinContinuations()}.
     */
    PARAMETER_CONTINUATION(MultipartException.Reason.MALFORMED_CONTENT_DISPOSITION),
    /**
     * The only file name is one that cannot be read: a {@code filename*} that cannot be decoded, taken literally, or
     * continuations that are not joined, without which there is none. Others see a file there.
     */
    UNREADABLE_FILENAME(MultipartException.Reason.MALFORMED_CONTENT_DISPOSITION),
    /** A {@code multipart/*} body inside a form-data part: handed out as one opaque part. */
    NESTED_MULTIPART(MultipartException.Reason.UNSUPPORTED_MEDIA_TYPE),
    /** Two {@code charset} parameters in the {@code Content-Type} of a part, {@code charset*}, or a blank before its {@code =}. */
    AMBIGUOUS_CHARSET(MultipartException.Reason.MALFORMED_HEADER),
    /** A charset in which ASCII is not itself (UTF-16, EBCDIC), of a field; in {@code _charset_} it is ignored. */
    CHARSET_WITHOUT_ASCII(MultipartException.Reason.UNKNOWN_CHARSET),
    /** A {@code charset} that the platform does not know, for text: UTF-8 is used instead. */
    UNKNOWN_CHARSET(MultipartException.Reason.UNKNOWN_CHARSET);

    private final MultipartException.Reason reason;

    Deviation(MultipartException.Reason reason) {
        this.reason = reason;
    }

    /** {@return the reason of the {@link MultipartException} where this deviation is refused} */
    public MultipartException.Reason reason() {
        return reason;
    }
}

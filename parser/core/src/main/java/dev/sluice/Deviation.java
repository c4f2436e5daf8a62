package dev.sluice;

import static dev.sluice.Deviation.Verdict.ACCEPTED;
import static dev.sluice.Deviation.Verdict.REFUSED;
import static dev.sluice.Deviation.Verdict.REPORTED;

import dev.sluice.MultipartException.Reason;

/**
 * A difference between a body and the format on which RFC 2046, RFC 7578 and all mainstream clients agree.
 *
 * <p>A {@link Preset} decides for each deviation whether it is accepted, accepted and reported by {@link MultipartDecoder#deviations()},
 * or rejected with the {@link MultipartException.Reason} given here.
 */
public enum Deviation {
    /**
     * A boundary with visible ASCII characters outside of RFC 2046 {@code bchars}, quoted or not, such as {@code *****}
     * (Android), or an unquoted boundary that needs quotes.
     */
    BOUNDARY_CHARACTERS(Reason.INVALID_BOUNDARY, REFUSED, REPORTED, ACCEPTED),
    /** A boundary of more than 70 and at most 256 characters (RFC 2046 section 5.1.1 allows 70). */
    LONG_BOUNDARY(Reason.INVALID_BOUNDARY, REFUSED, REFUSED, ACCEPTED),
    /**
     * A {@code Content-Type} in which some parsers find a different boundary. Another parameter contains the word {@code boundary}
     * ({@code xboundary}, {@code x="; boundary=y"}), or is quoted and contains a backslash. Or the boundary is the word {@code boundary},
     * contains it with {@code =} after it ({@code "boundary=y"}), or contains it although the name of the parameter is not in lower case.
     */
    LOOKALIKE_BOUNDARY(Reason.INVALID_BOUNDARY, REFUSED, REPORTED, ACCEPTED),
    /** A comma in place of the semicolon after the media type, as in an example of RFC 1867. */
    COMMA_AFTER_MEDIA_TYPE(Reason.MISSING_BOUNDARY, REFUSED, REFUSED, REPORTED),
    /**
     * A {@code charset} other than UTF-8 and US-ASCII, or a {@code charset*}, in the {@code Content-Type} of the request. RFC 7578 does not
     * define this parameter. It is ignored, but some parsers decode names with it.
     */
    REQUEST_CHARSET(Reason.UNKNOWN_CHARSET, REFUSED, REPORTED, REPORTED),
    /** Bytes other than one CRLF before the first delimiter. */
    PREAMBLE(Reason.PREAMBLE, REFUSED, REPORTED, ACCEPTED),
    /** Bytes other than one CRLF after the close-delimiter. */
    EPILOGUE(Reason.EPILOGUE, REFUSED, REPORTED, ACCEPTED),
    /**
     * Spaces or tabs after a delimiter or close-delimiter (transport padding, at most 256 bytes). Some parsers do not accept such a
     * delimiter.
     */
    TRANSPORT_PADDING(Reason.MALFORMED_DELIMITER, REFUSED, REPORTED, ACCEPTED),
    /**
     * The boundary with its two dashes after a bare CR or a bare LF, in the body of a part or in the preamble. It is data, but some parsers
     * take it for a delimiter. If {@link #BARE_LF} is accepted, the boundary after an LF is a delimiter.
     */
    LOOKALIKE_DELIMITER(Reason.MALFORMED_DELIMITER, REFUSED, REPORTED, ACCEPTED),
    /** A line of a header section that begins like a delimiter. It is read as a header field. */
    DELIMITER_IN_HEADER(Reason.MALFORMED_DELIMITER, REFUSED, REFUSED, REPORTED),
    /** A part without a line end between its header section and the next delimiter. Its body is empty. */
    SHARED_LINE_END(Reason.MALFORMED_DELIMITER, REFUSED, REPORTED, ACCEPTED),
    /** A delimiter followed by something other than transport padding, CRLF or {@code --}. It is data, or part of the preamble. */
    FALSE_DELIMITER(Reason.MALFORMED_DELIMITER, REFUSED, REFUSED, ACCEPTED),
    /** A close-delimiter followed by something other than padding, CRLF or the end. The rest is epilogue. */
    TEXT_AFTER_CLOSE_DELIMITER(Reason.MALFORMED_DELIMITER, REFUSED, REFUSED, ACCEPTED),
    /** A preamble directly followed by the close-delimiter: the body has no part. */
    CLOSE_DELIMITER_AFTER_PREAMBLE(Reason.MALFORMED_DELIMITER, REFUSED, REFUSED, ACCEPTED),
    /** LF without CR as the line end before or after a delimiter. If this is not accepted, the boundary after such an LF is data. */
    BARE_LF(Reason.MALFORMED_DELIMITER, REFUSED, REFUSED, REPORTED),
    /** LF without CR as a line end in a header section. */
    BARE_LF_IN_HEADER(Reason.MALFORMED_HEADER, REFUSED, REFUSED, REPORTED),
    /**
     * A header field that continues on the next line (RFC 5322 section 2.2.3). The line end and the blanks around it are read as one space.
     */
    FOLDED_HEADER(Reason.MALFORMED_HEADER, REFUSED, REPORTED, ACCEPTED),
    /** Control characters other than NUL, CR and LF in a quoted value of a {@code Content-Disposition}. Browsers send them. */
    CONTROL_IN_DISPOSITION(Reason.MALFORMED_HEADER, REFUSED, REPORTED, ACCEPTED),
    /** A {@code Content-Length} of a part that is not a number, occurs twice, or differs from the size of the part. It is ignored. */
    PART_CONTENT_LENGTH(Reason.MALFORMED_HEADER, REFUSED, REPORTED, ACCEPTED),
    /** A {@code Content-Transfer-Encoding} other than 7bit, 8bit or binary (deprecated by RFC 7578 section 4.7). */
    TRANSFER_ENCODING(Reason.UNSUPPORTED_TRANSFER_ENCODING, REFUSED, REPORTED, ACCEPTED),
    /** Bytes in a header value that are malformed in the header charset. They are read as U+FFFD. */
    UNDECODABLE_HEADER(Reason.MALFORMED_HEADER, REFUSED, REPORTED, REPORTED),
    /** A disposition type other than {@code form-data} in a form-data body, such as {@code attachment}. */
    DISPOSITION_TYPE(Reason.MALFORMED_CONTENT_DISPOSITION, REFUSED, REFUSED, REPORTED),
    /** Malformed {@code Content-Disposition} parameters that can be read in only one way. */
    DISPOSITION_SYNTAX(Reason.MALFORMED_CONTENT_DISPOSITION, REFUSED, REFUSED, REPORTED),
    /**
     * A {@code Content-Disposition} parameter that other parsers split differently: an unquoted value that is not a token, an unknown
     * parameter without a value, or an empty parameter before a semicolon.
     */
    LOOSE_PARAMETER(Reason.MALFORMED_CONTENT_DISPOSITION, REFUSED, REPORTED, ACCEPTED),
    /** An unknown {@code Content-Disposition} parameter that occurs twice (case-insensitive). Some parsers then find no name. */
    REPEATED_PARAMETER(Reason.DUPLICATE_PARAMETER, REFUSED, REPORTED, ACCEPTED),
    /**
     * An unknown {@code Content-Disposition} parameter that some parsers take for the name or file name. Its name contains {@code *}, as in
     * {@code filename*x}, or ends with {@code name} or {@code filename} after a character that is not a letter, as in {@code x-filename}.
     */
    LOOKALIKE_PARAMETER(Reason.MALFORMED_CONTENT_DISPOSITION, REFUSED, REPORTED, ACCEPTED),
    /** A name, or a file name in {@code filename}, that begins with the byte order mark of UTF-8, which some parsers remove. */
    BYTE_ORDER_MARK(Reason.MALFORMED_CONTENT_DISPOSITION, REFUSED, REPORTED, ACCEPTED),
    /** Two backslashes in a quoted value, read as one. */
    ESCAPED_BACKSLASH(Reason.MALFORMED_CONTENT_DISPOSITION, REFUSED, REPORTED, ACCEPTED),
    /** A single backslash in a quoted value. Before a quote it is an escape; otherwise it is literal. */
    BACKSLASH(Reason.MALFORMED_CONTENT_DISPOSITION, REFUSED, ACCEPTED, ACCEPTED),
    /** A name or file name in RFC 2047 encoded words. It is literal unless {@link MultipartOptions#decodeEncodedWords()} is set. */
    ENCODED_WORD(Reason.MALFORMED_CONTENT_DISPOSITION, ACCEPTED, ACCEPTED, REPORTED),
    /** A {@code name*} that can be decoded, without a {@code name}. It is used as the name. */
    EXTENDED_NAME(Reason.MISSING_NAME, REFUSED, REFUSED, REPORTED),
    /** A {@code filename*} (RFC 8187) without a {@code filename}. It is decoded, although RFC 7578 section 4.2 forbids it. */
    EXTENDED_FILENAME(Reason.MALFORMED_CONTENT_DISPOSITION, REFUSED, REPORTED, ACCEPTED),
    /** {@code filename} and {@code filename*} with the same value. */
    TWO_FILENAMES(Reason.MALFORMED_CONTENT_DISPOSITION, ACCEPTED, REPORTED, REPORTED),
    /**
     * {@code filename} and {@code filename*} with different values. {@code filename*} is used if {@link
     * MultipartOptions#preferExtendedFilename()} is set, or if {@code filename} is a lossy form of it. Otherwise {@code filename} is used.
     */
    CONFLICTING_FILENAMES(Reason.MALFORMED_CONTENT_DISPOSITION, REFUSED, REPORTED, REPORTED),
    /**
     * A parameter that is ignored: a {@code filename*} that cannot be decoded, if there is another file name; a {@code name*} in addition
     * to a {@code name}; or continuations of a name.
     */
    UNUSABLE_EXTENDED_PARAMETER(Reason.MALFORMED_CONTENT_DISPOSITION, REFUSED, REPORTED, REPORTED),
    /**
     * RFC 2231 continuations ({@code filename*0=}). If there is another file name, they are ignored. Otherwise they are joined if
     * {@link MultipartOptions#joinContinuations()} is set.
     */
    PARAMETER_CONTINUATION(Reason.MALFORMED_CONTENT_DISPOSITION, REFUSED, REPORTED, ACCEPTED),
    /**
     * A file name that cannot be decoded, in a part without another file name. A malformed {@code filename*} is used literally. A part
     * whose continuations are not joined has no file name, but other parsers find a file.
     */
    UNREADABLE_FILENAME(Reason.MALFORMED_CONTENT_DISPOSITION, REFUSED, REFUSED, REPORTED),
    /**
     * A form-data part whose content is a multipart body. It is delivered as one part, unless the form API is set to expand it ({@code
     * expandNested}).
     */
    NESTED_MULTIPART(Reason.UNSUPPORTED_MEDIA_TYPE, REFUSED, REPORTED, ACCEPTED),
    /**
     * A {@code Content-Type} of a part in which some parsers find another name, file name or type of the part. It has a parameter
     * {@code name}, {@code filename} or {@code filename*} (mail programs send these), a parameter without {@code =}, or a parameter with
     * the name of a header field.
     */
    LOOKALIKE_TYPE_PARAMETER(Reason.MALFORMED_HEADER, REFUSED, REPORTED, ACCEPTED),
    /**
     * A {@code Content-Type} of a part in which parsers find different charsets. It has two {@code charset} parameters, another parameter
     * whose name starts with {@code charset} (such as {@code charset*} or {@code charsetx}), a blank between {@code charset} and {@code =},
     * or a {@code charset=} in place of the media type or after a comma.
     */
    AMBIGUOUS_CHARSET(Reason.MALFORMED_HEADER, REFUSED, REPORTED, REPORTED),
    /**
     * The charset of a part that is not a superset of US-ASCII, such as UTF-16 or EBCDIC. Some parsers search for the next delimiter in
     * this charset. Such a charset in a {@code _charset_} field is ignored.
     */
    CHARSET_WITHOUT_ASCII(Reason.UNKNOWN_CHARSET, REFUSED, REPORTED, REPORTED),
    /** The charset of a field that the platform does not support. UTF-8 is used instead. */
    UNKNOWN_CHARSET(Reason.UNKNOWN_CHARSET, REFUSED, REPORTED, REPORTED);

    /** The decision of a preset on a deviation. */
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

    /** {@return the reason of the {@link MultipartException} if this deviation is rejected} */
    public Reason reason() {
        return reason;
    }
}

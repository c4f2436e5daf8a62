package dev.sluice.header;

import dev.sluice.Deviation;
import dev.sluice.MultipartException.Reason;
import dev.sluice.MultipartOptions;
import dev.sluice.Preset;
import dev.sluice.buffer.Text;
import java.nio.charset.Charset;
import org.jspecify.annotations.Nullable;

/**
 * The rules for a complete header section. {@link HeaderSection} checks the grammar.
 *
 * <p>Duplicate fields, undecodable bytes and the transfer encoding are checked for every multipart type (RFC 2046, RFC 2045 section 6).
 * {@code Content-Disposition} is checked for {@code multipart/form-data} only (RFC 7578 section 4.2). For other types it is read if
 * possible and ignored otherwise.
 *
 * <p>One instance is used for all parts of a body. A Java field that holds the index of a header field is {@link #ABSENT} if the part has
 * no such header field.
 */
public final class PartRules {
    private static final int ABSENT = -1;

    /** Deviations with which a Content-Disposition is still read in other multipart types. */
    private static final Deviation[] READABLE_ELSEWHERE = {
        Deviation.DISPOSITION_TYPE,
        Deviation.LOOSE_PARAMETER,
        Deviation.REPEATED_PARAMETER,
        Deviation.LOOKALIKE_PARAMETER,
        Deviation.BYTE_ORDER_MARK,
        Deviation.ESCAPED_BACKSLASH,
        Deviation.BACKSLASH
    };

    private final MultipartOptions options;
    private final boolean formData;
    final DispositionParser disposition;
    final PartNames names;

    private final HeaderSection section;
    private final Deviations deviations;
    private int part;
    private int dispositionField;
    private int typeField;
    private int encodingField;
    /** The first two Content-Length fields. Sluice does not use them to find the end of the part, but other readers may. */
    private int lengthField;

    private int secondLengthField;
    /** For each byte of an unfolded Content-Disposition, its index in the section; empty if the field is not folded. */
    private int[] origins = new int[0];

    private long contentLength;

    long files;

    public PartRules(MultipartOptions options, boolean formData, HeaderSection section, Deviations deviations) {
        this.options = options;
        this.formData = formData;
        Preset preset = options.preset();
        this.disposition = new DispositionParser(formData ? preset : preset.accepting(READABLE_ELSEWHERE));
        this.names = new PartNames(options, disposition);
        this.section = section;
        this.deviations = deviations;
    }

    public void check(int partIndex) throws Rejection {
        part = partIndex;
        dispositionField = typeField = encodingField = lengthField = secondLengthField = ABSENT;
        names.clear();
        contentLength = ABSENT;
        CommonHeaders common = formData ? section.commonHeaders() : null;
        if (common != null) {
            set(common);
            return;
        }
        findFields();
        checkText();
        checkTransferEncoding();
        checkContentLength();
        if (formData) {
            checkDisposition();
            checkType();
            countFile();
        } else if (dispositionField != ABSENT) {
            try {
                parseDisposition();
                names.findName();
                names.findFilename();
            } catch (Rejection e) {
                names.clear(); // the Content-Disposition is ignored
            }
        }
    }

    /** Checks a section in the common format, in which only parameters of the Content-Type and the number of files can be wrong. */
    private void set(CommonHeaders common) throws Rejection {
        dispositionField = 0;
        typeField = common.typeStart < 0 ? ABSENT : 1;
        disposition.set(section.array(), common);
        names.set(common);
        if (typeField != ABSENT) {
            checkParameters();
        }
        countFile();
    }

    private void findFields() throws Rejection {
        byte[] array = section.array();
        for (int field = 0; field < section.count; field++) {
            int from = section.nameStart(field);
            int to = section.nameEnd(field);
            int before = ABSENT;
            if (Keyword.CONTENT_DISPOSITION.is(array, from, to)) {
                before = dispositionField;
                dispositionField = field;
            } else if (Keyword.CONTENT_TYPE.is(array, from, to)) {
                before = typeField;
                typeField = field;
            } else if (Keyword.CONTENT_TRANSFER_ENCODING.is(array, from, to)) {
                before = encodingField;
                encodingField = field;
            } else if (Keyword.CONTENT_LENGTH.is(array, from, to)) {
                secondLengthField = lengthField != ABSENT && secondLengthField == ABSENT ? field : secondLengthField;
                lengthField = lengthField == ABSENT ? field : lengthField;
            }
            if (before != ABSENT) {
                throw reject(Reason.DUPLICATE_HEADER, from);
            }
        }
    }

    private void checkText() throws Rejection {
        for (int field = 0; field < section.count; field++) {
            int start = section.valueStart(field);
            int length = section.valueEnd(field) - start;
            if (!Text.isAscii(section.array(), start, length)) {
                int malformed = Text.malformedAt(section.array(), start, length, options.headerCharset());
                if (malformed >= 0) {
                    String detail = "a header value is not valid " + options.headerCharset();
                    require(Deviation.UNDECODABLE_HEADER, start + malformed, detail);
                }
            }
        }
    }

    private void checkTransferEncoding() throws Rejection {
        if (encodingField == ABSENT) {
            return;
        }
        byte[] array = section.array();
        int from = section.valueStart(encodingField);
        int to = section.valueEnd(encodingField);
        if (!Keyword.SEVEN_BIT.is(array, from, to)
                && !Keyword.EIGHT_BIT.is(array, from, to)
                && !Keyword.BINARY.is(array, from, to)) {
            require(Deviation.TRANSFER_ENCODING, from, "");
        }
    }

    private void checkDisposition() throws Rejection {
        if (dispositionField == ABSENT) {
            throw reject(Reason.MISSING_CONTENT_DISPOSITION, section.arrayOffset() + section.endOfSection);
        }
        Rejection rejected = null;
        try {
            parseDisposition();
        } catch (Rejection e) {
            rejected = e;
        }
        int start = section.valueStart(dispositionField);
        int end = rejected == null ? Integer.MAX_VALUE : (int) rejected.offset;
        disposition.found.sort(PartNames.BY_POSITION);
        for (PartNames.FoundDeviation each : disposition.found) {
            if (each.position() < end) {
                accept(each.kind(), index(each.position()));
            }
        }
        if (rejected != null) {
            throw new Rejection(
                    rejected.reason, section.offsetOf(index(end)), "Content-Disposition: " + rejected.detail);
        }
        names.findName();
        if (!disposition.name.isPresent()) {
            if (!names.useExtendedName()) {
                throw reject(Reason.MISSING_NAME, start);
            }
            require(
                    Deviation.EXTENDED_NAME,
                    start,
                    "the Content-Disposition has name* but no name: use the preset COMPATIBLE, or another that"
                            + " accepts EXTENDED_NAME");
        }
        names.findFilename();
        names.found.sort(PartNames.BY_POSITION);
        for (PartNames.FoundDeviation each : names.found) {
            int index = index(each.position());
            if (each.unusable() || !accept(each.kind(), index)) {
                String detail = "Content-Disposition: " + DispositionParser.detail(each.kind());
                throw new Rejection(each.kind().reason(), section.offsetOf(index), detail);
            }
        }
    }

    private void parseDisposition() throws Rejection {
        int from = section.valueStart(dispositionField);
        int to = section.valueEnd(dispositionField);
        if (!section.isFolded(dispositionField)) {
            origins = new int[0];
            disposition.parse(section.array(), from, to);
            return;
        }
        origins = new int[to - from + 1];
        byte[] unfolded = HeaderFields.unfold(section.array(), from, to, origins);
        origins[unfolded.length] = to;
        disposition.parse(unfolded, 0, unfolded.length);
    }

    /** {@return the index in the section for a position in the value that the disposition parser has read} */
    private int index(int position) {
        return origins.length > 0 ? origins[position] : position;
    }

    private void checkType() throws Rejection {
        if (typeField == ABSENT) {
            return;
        }
        int start = section.valueStart(typeField);
        if (Keyword.MULTIPART.startsAt(section.array(), start, section.valueEnd(typeField))) {
            require(Deviation.NESTED_MULTIPART, start, "a form-data part contains another multipart body");
        }
        checkParameters();
    }

    /**
     * Checks that all parsers find the same name, file name, type and charset, that the charset is a superset of US-ASCII, and that the
     * charset of a field is known.
     */
    private void checkParameters() throws Rejection {
        int start = section.valueStart(typeField);
        byte[] array = section.array();
        int at = start;
        int end = section.valueEnd(typeField);
        while (at < end && array[at] != '=' && array[at] != ';') {
            at++;
        }
        String type = at < end ? contentType() : null;
        if (type == null) {
            return;
        }
        if (PartType.describesPart(type)) {
            String detail = "some parsers take a parameter of a part's Content-Type for its name, file name or type";
            require(Deviation.LOOKALIKE_TYPE_PARAMETER, start, detail);
        }
        if (PartType.isCharsetAmbiguous(type)) {
            require(
                    Deviation.AMBIGUOUS_CHARSET,
                    start,
                    "parsers find different charsets in the Content-Type of a part");
        }
        String charset = TypeParameters.find(type, PartType.CHARSET);
        if (charset == null) {
            return;
        }
        Charset named = Text.charset(charset);
        if (named != null && !Text.keepsAscii(named)) {
            require(Deviation.CHARSET_WITHOUT_ASCII, start, "the charset of a part is not a superset of US-ASCII");
        } else if (named == null && !names.hasFilename) {
            require(Deviation.UNKNOWN_CHARSET, start, "the charset of a field is unknown");
        }
    }

    private void checkContentLength() throws Rejection {
        if (lengthField == ABSENT) {
            return;
        }
        long length = lengthOf(lengthField);
        int odd = length == ABSENT ? lengthField : secondLengthField;
        contentLength = secondLengthField == ABSENT ? length : ABSENT;
        if (odd != ABSENT) {
            String detail = "the Content-Length of a part is not a number, or occurs twice";
            require(Deviation.PART_CONTENT_LENGTH, section.valueStart(odd), detail);
        }
    }

    /** {@return the value of a field as a number, at most {@link Long#MAX_VALUE}; {@link #ABSENT} if it is not a number} */
    private long lengthOf(int field) {
        int from = section.valueStart(field);
        int to = section.valueEnd(field);
        long length = from < to ? 0 : ABSENT;
        for (int i = from; i < to; i++) {
            int digit = section.array()[i] - '0';
            if (digit < 0 || digit > 9) {
                return ABSENT;
            }
            length = length > (Long.MAX_VALUE - digit) / 10 ? Long.MAX_VALUE : 10 * length + digit;
        }
        return length;
    }

    private void countFile() throws Rejection {
        if (names.hasFilename && ++files > options.maxFiles()) {
            throw reject(Reason.TOO_MANY_FILES, section.valueStart(dispositionField));
        }
    }

    private boolean accept(Deviation kind, int index) {
        return deviations.accept(kind, part, section.offsetOf(index));
    }

    private void require(Deviation kind, int index, String detail) throws Rejection {
        deviations.require(kind, part, section.offsetOf(index), detail);
    }

    private Rejection reject(Reason reason, int index) {
        return new Rejection(reason, section.offsetOf(index), "");
    }

    public PartNames names() {
        return names;
    }

    /** {@return the {@code Content-Length} of the part; -1 if it has none, more than one, or one that is not a number} */
    public long contentLength() {
        return contentLength;
    }

    /** {@return the {@code Content-Type} of the part, or null} */
    public @Nullable String contentType() {
        if (typeField == ABSENT) {
            return null;
        }
        int from = section.valueStart(typeField);
        int to = section.valueEnd(typeField);
        return HeaderFields.text(section.array(), from, to, section.isFolded(typeField), options.headerCharset());
    }
}

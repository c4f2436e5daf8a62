package dev.sluice;

import dev.sluice.MultipartException.Reason;
import dev.sluice.buffer.Text;
import java.nio.charset.Charset;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether the header section of a part, complete and grammatical, is acceptable.
 *
 * <p>Duplicate fields, undecodable bytes and the transfer encoding for every multipart type (RFC 2046, RFC 2045 section 6);
 * {@code Content-Disposition} for {@code multipart/form-data} only (RFC 7578 section 4.2): elsewhere it is read where it can be.
 */
final class PartRules {
    private static final int ABSENT = -1;
    private static final String CHARSET = "charset";

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
    /** The first two of that name, which frame nothing here; but elsewhere they may. */
    private int lengthField;

    private int secondLengthField;
    /** Where each byte of an unfolded Content-Disposition was in the section; empty where it was not folded. */
    private int[] origins = new int[0];

    /** The {@code Content-Length} of the part, or -1 where it has none, or more than one or none that is a number. */
    long contentLength;

    long files;

    PartRules(MultipartOptions options, boolean formData, HeaderSection section, Deviations deviations) {
        this.options = options;
        this.formData = formData;
        Preset preset = options.preset();
        this.disposition = new DispositionParser(formData ? preset : preset.accepting(READABLE_ELSEWHERE));
        this.names = new PartNames(options, disposition);
        this.section = section;
        this.deviations = deviations;
    }

    void check(int partIndex) throws Refusal {
        part = partIndex;
        dispositionField = typeField = encodingField = lengthField = secondLengthField = ABSENT;
        names.clear();
        contentLength = ABSENT;
        UsualSection usual = formData ? section.usualSection() : null;
        if (usual != null) {
            take(usual);
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
            } catch (Refusal e) { // then the part has no name
            }
        }
    }

    /** A usual section has nothing to object to but its charset, and one file too many. */
    private void take(UsualSection usual) throws Refusal {
        dispositionField = 0;
        typeField = usual.typeStart < 0 ? ABSENT : 1;
        disposition.take(section.array(), usual);
        names.take(usual);
        if (typeField != ABSENT) {
            checkCharset();
        }
        countFile();
    }

    private void findFields() throws Refusal {
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
                throw refuse(Reason.DUPLICATE_HEADER, from);
            }
        }
    }

    private void checkText() throws Refusal {
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

    private void checkTransferEncoding() throws Refusal {
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

    private void checkDisposition() throws Refusal {
        if (dispositionField == ABSENT) {
            throw refuse(Reason.MISSING_CONTENT_DISPOSITION, section.arrayOffset() + section.endOfSection);
        }
        Refusal refused = null;
        try {
            parseDisposition();
        } catch (Refusal e) {
            refused = e;
        }
        int start = section.valueStart(dispositionField);
        int end = refused == null ? Integer.MAX_VALUE : (int) refused.offset;
        disposition.noted.sort(PartNames.FROM_LEFT_TO_RIGHT);
        for (PartNames.Oddity odd : disposition.noted) {
            if (odd.position() < end) {
                accept(odd.kind(), index(odd.position()));
            }
        }
        if (refused != null) {
            throw new Refusal(refused.reason, section.offsetOf(index(end)), "Content-Disposition: " + refused.detail);
        }
        names.findName();
        if (!names.hasName) {
            if (!names.takeExtendedName()) {
                throw refuse(Reason.MISSING_NAME, start);
            }
            require(
                    Deviation.EXTENDED_NAME,
                    start,
                    "the Content-Disposition has no name but a name*: the preset COMPATIBLE takes it, as does any"
                            + " that accepts EXTENDED_NAME");
        }
        names.findFilename();
        names.oddities.sort(PartNames.FROM_LEFT_TO_RIGHT);
        for (PartNames.Oddity odd : names.oddities) {
            int index = index(odd.position());
            if (odd.broken() || !accept(odd.kind(), index)) {
                String detail = "Content-Disposition: " + DispositionParser.detail(odd.kind());
                throw new Refusal(odd.kind().reason(), section.offsetOf(index), detail);
            }
        }
    }

    private void parseDisposition() throws Refusal {
        int from = section.valueStart(dispositionField);
        int to = section.valueEnd(dispositionField);
        if (!section.isFolded(dispositionField)) {
            origins = new int[0];
            disposition.parse(section.array(), from, to);
            return;
        }
        origins = new int[to - from + 1];
        byte[] unfolded = PartHead.unfold(section.array(), from, to, origins);
        origins[unfolded.length] = to;
        disposition.parse(unfolded, 0, unfolded.length);
    }

    /** {@return the index in the array of the section of a position of the disposition parser} */
    private int index(int position) {
        return origins.length > 0 ? origins[position] : position;
    }

    private void checkType() throws Refusal {
        if (typeField == ABSENT) {
            return;
        }
        int start = section.valueStart(typeField);
        if (Keyword.MULTIPART.startsAt(section.array(), start, section.valueEnd(typeField))) {
            require(Deviation.NESTED_MULTIPART, start, "a form-data part holds another multipart body");
        }
        checkCharset();
    }

    /** Checks a type with parameters: all readers find the same charset; that of a field is known, and in it ASCII is itself. */
    private void checkCharset() throws Refusal {
        int start = section.valueStart(typeField);
        byte[] array = section.array();
        int at = start;
        int end = section.valueEnd(typeField);
        while (at < end && array[at] != ';') {
            at++;
        }
        String type = at < end ? contentType() : null;
        if (type == null) {
            return;
        }
        if (isAmbiguous(type)) {
            require(Deviation.AMBIGUOUS_CHARSET, start, "the Content-Type of a part has more than one charset");
        }
        String charset = names.hasFilename ? null : PartHead.parameter(type, CHARSET);
        if (charset == null) {
            return;
        }
        Charset named = Text.charset(charset);
        if (named == null) {
            require(Deviation.UNKNOWN_CHARSET, start, "the charset of a field is unknown");
        } else if (!Text.keepsAscii(named)) {
            require(Deviation.CHARSET_WITHOUT_ASCII, start, "the charset of a field is not a superset of US-ASCII");
        }
    }

    /** {@return whether readers may find another charset in {@code contentType} than the first {@code charset=}} */
    private static boolean isAmbiguous(String contentType) {
        int plain = 0;
        for (String parameter : PartHead.parameters(contentType)) {
            if (parameter.regionMatches(true, 0, CHARSET, 0, CHARSET.length())) {
                String rest = parameter.substring(CHARSET.length());
                if (rest.startsWith("*")
                        || !rest.startsWith("=") && rest.stripLeading().startsWith("=")) {
                    return true;
                }
                plain += rest.startsWith("=") ? 1 : 0;
            }
        }
        return plain > 1;
    }

    private void checkContentLength() throws Refusal {
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

    /** {@return the number that a field is, at most {@link Long#MAX_VALUE}, or {@link #ABSENT} where it is none} */
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

    private void countFile() throws Refusal {
        if (names.hasFilename && ++files > options.maxFiles()) {
            throw refuse(Reason.TOO_MANY_FILES, section.valueStart(dispositionField));
        }
    }

    private boolean accept(Deviation kind, int index) {
        return deviations.accept(kind, part, section.offsetOf(index));
    }

    private void require(Deviation kind, int index, String detail) throws Refusal {
        deviations.require(kind, part, section.offsetOf(index), detail);
    }

    private Refusal refuse(Reason reason, int index) {
        return new Refusal(reason, section.offsetOf(index), "");
    }

    /** {@return what is known of the part whose body starts at {@code offset}} */
    PartHead head(long offset) {
        String plain = names.plainFilename();
        return new PartHead(
                part,
                offset,
                names.name(),
                names.filename(plain),
                plain,
                names.extendedFilename(),
                section.copy(),
                valueOf(typeField),
                valueOf(encodingField),
                options.headerCharset());
    }

    /** {@return where in the copy of the section the value of a field is} */
    private int valueOf(int field) {
        return field == ABSENT ? ABSENT : section.valueStart(field) - section.arrayOffset();
    }

    @Nullable
    String contentType() {
        if (typeField == ABSENT) {
            return null;
        }
        int from = section.valueStart(typeField);
        int to = section.valueEnd(typeField);
        if (section.isFolded(typeField)) {
            byte[] unfolded = PartHead.unfold(section.array(), from, to, new int[0]);
            return new String(unfolded, options.headerCharset());
        }
        return new String(section.array(), from, to - from, options.headerCharset());
    }
}

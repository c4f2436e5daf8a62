package dev.sluice;

import dev.sluice.MultipartException.Reason;
import dev.sluice.buffer.Text;
import java.nio.charset.Charset;
import java.util.Map;
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

    private static final Map<Deviation, String> DETAILS = Map.of(
            Deviation.UNUSABLE_EXTENDED_PARAMETER, "an extended parameter cannot be used",
            Deviation.EXTENDED_FILENAME, "filename* is not used in form-data",
            Deviation.TWO_FILENAMES, "filename and filename* are both given",
            Deviation.CONFLICTING_FILENAMES, "filename and filename* differ",
            Deviation.PARAMETER_CONTINUATION, "filename* continuations are not used in form-data",
            Deviation.UNREADABLE_FILENAME, "the only file name cannot be read",
            Deviation.ENCODED_WORD, "encoded words are not used in form-data");

    private static final Deviation[] READABLE_ELSEWHERE = {
        Deviation.DISPOSITION_TYPE, Deviation.LOOSE_PARAMETER, Deviation.ESCAPED_BACKSLASH, Deviation.BACKSLASH
    };

    private final MultipartOptions options;
    private final boolean formData;
    private final DispositionParser disposition;
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

    @Nullable
    Refusal check(int partIndex) {
        part = partIndex;
        dispositionField = typeField = encodingField = lengthField = secondLengthField = ABSENT;
        names.clear();
        contentLength = ABSENT;
        UsualSection usual = formData ? section.usualSection() : null;
        if (usual != null) {
            return take(usual);
        }
        Refusal refused = findFields();
        refused = refused != null ? refused : checkText();
        refused = refused != null ? refused : checkTransferEncoding();
        refused = refused != null ? refused : checkContentLength();
        if (formData) {
            refused = refused != null ? refused : checkDisposition();
            refused = refused != null ? refused : checkType();
            refused = refused != null ? refused : countFile();
        } else if (refused == null && dispositionField != ABSENT && parseDisposition() == null) {
            names.findName();
            names.findFilename();
        }
        return refused;
    }

    /** A usual section has nothing to object to but its charset, and one file too many. */
    private @Nullable Refusal take(UsualSection usual) {
        dispositionField = 0;
        typeField = usual.typeStart < 0 ? ABSENT : 1;
        disposition.take(section.array(), usual);
        names.take(usual);
        Refusal refused = typeField == ABSENT ? null : checkCharset();
        return refused != null ? refused : countFile();
    }

    private @Nullable Refusal findFields() {
        byte[] array = section.array();
        int base = section.arrayOffset();
        for (int field = 0; field < section.count; field++) {
            int from = base + section.nameStart(field);
            int to = base + section.nameEnd(field);
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
                return refuse(Reason.DUPLICATE_HEADER, section.nameStart(field), "");
            }
        }
        return null;
    }

    private @Nullable Refusal checkText() {
        for (int field = 0; field < section.count; field++) {
            int start = section.valueStart(field);
            int from = section.arrayOffset() + start;
            int length = section.valueEnd(field) - start;
            if (!Text.isAscii(section.array(), from, length)) {
                int malformed = Text.malformedAt(section.array(), from, length, options.headerCharset());
                if (malformed >= 0 && !accept(Deviation.UNDECODABLE_HEADER, start + malformed)) {
                    return refuse(
                            Reason.MALFORMED_HEADER,
                            start + malformed,
                            "a header value is not valid " + options.headerCharset());
                }
            }
        }
        return null;
    }

    private @Nullable Refusal checkTransferEncoding() {
        if (encodingField == ABSENT || isValue(encodingField, Keyword.SEVEN_BIT, Keyword.EIGHT_BIT, Keyword.BINARY)) {
            return null;
        }
        int start = section.valueStart(encodingField);
        return accept(Deviation.TRANSFER_ENCODING, start)
                ? null
                : refuse(Reason.UNSUPPORTED_TRANSFER_ENCODING, start, "");
    }

    private boolean isValue(int field, Keyword... words) {
        int from = section.arrayOffset() + section.valueStart(field);
        int to = section.arrayOffset() + section.valueEnd(field);
        for (Keyword word : words) {
            if (word.is(section.array(), from, to)) {
                return true;
            }
        }
        return false;
    }

    private @Nullable Refusal checkDisposition() {
        if (dispositionField == ABSENT) {
            return refuse(Reason.MISSING_CONTENT_DISPOSITION, section.endOfSection, "");
        }
        Refusal refused = parseDisposition();
        int start = section.valueStart(dispositionField);
        if (disposition.hasType() && !disposition.isFormData()) {
            accept(Deviation.DISPOSITION_TYPE, start);
        }
        int end = refused == null ? Integer.MAX_VALUE : (int) refused.offset();
        int[] notedAt = disposition.notedAt;
        for (int next; (next = leftmost(notedAt)) >= 0 && notedAt[next] < end; notedAt[next] = ABSENT) {
            accept(DispositionParser.Noted.ALL[next].deviation, index(notedAt[next]));
        }
        if (refused != null) {
            return refuse(refused.reason(), index(end), "Content-Disposition: " + refused.detail());
        }
        names.findName();
        if (!names.hasName()) {
            if (!names.takeExtendedName()) {
                return refuse(Reason.MISSING_NAME, start, "");
            } else if (!accept(Deviation.EXTENDED_NAME, start)) {
                return refuse(
                        Reason.MISSING_NAME,
                        start,
                        "the Content-Disposition has no name but a name*: the preset COMPATIBLE takes it, as does any"
                                + " that accepts EXTENDED_NAME");
            }
        }
        names.findFilename();
        for (PartNames.Oddity odd : names.oddities()) {
            int index = index(odd.position());
            if (odd.broken() || !accept(odd.kind(), index)) {
                return refuse(
                        Reason.MALFORMED_CONTENT_DISPOSITION, index, "Content-Disposition: " + DETAILS.get(odd.kind()));
            }
        }
        return null;
    }

    private @Nullable Refusal parseDisposition() {
        names.parsing();
        int from = section.arrayOffset() + section.valueStart(dispositionField);
        int to = section.arrayOffset() + section.valueEnd(dispositionField);
        if (!section.isFolded(dispositionField)) {
            origins = new int[0];
            return disposition.parse(section.array(), from, to);
        }
        origins = new int[to - from + 1];
        byte[] unfolded = PartHead.unfold(section.array(), from, to, origins);
        origins[unfolded.length] = to;
        return disposition.parse(unfolded, 0, unfolded.length);
    }

    /** {@return the index in the section of a position of the disposition parser} */
    private int index(int position) {
        return (origins.length > 0 ? origins[position] : position) - section.arrayOffset();
    }

    private static int leftmost(int[] positions) {
        int leftmost = ABSENT;
        for (int i = 0; i < positions.length; i++) {
            if (positions[i] >= 0 && (leftmost < 0 || positions[i] < positions[leftmost])) {
                leftmost = i;
            }
        }
        return leftmost;
    }

    private @Nullable Refusal checkType() {
        if (typeField == ABSENT) {
            return null;
        }
        int start = section.valueStart(typeField);
        int from = section.arrayOffset() + start;
        int to = section.arrayOffset() + section.valueEnd(typeField);
        boolean nested = Keyword.MULTIPART.startsAt(section.array(), from, to);
        return !nested || accept(Deviation.NESTED_MULTIPART, start)
                ? checkCharset()
                : refuse(Reason.UNSUPPORTED_MEDIA_TYPE, start, "a form-data part holds another multipart body");
    }

    /** Of a type with parameters: whether all readers find the same charset, and ASCII is itself in that of a field. */
    private @Nullable Refusal checkCharset() {
        int start = section.valueStart(typeField);
        byte[] array = section.array();
        int at = section.arrayOffset() + start;
        int end = section.arrayOffset() + section.valueEnd(typeField);
        while (at < end && array[at] != ';') {
            at++;
        }
        String type = at < end ? contentType() : null;
        if (type == null) {
            return null;
        }
        if (isAmbiguous(type) && !accept(Deviation.AMBIGUOUS_CHARSET, start)) {
            return refuse(Reason.MALFORMED_HEADER, start, "the Content-Type of a part has more than one charset");
        }
        String charset = names.hasFilename() ? null : PartHead.parameter(type, CHARSET);
        return charset == null || keepsAscii(charset) || accept(Deviation.CHARSET_WITHOUT_ASCII, start)
                ? null
                : refuse(Reason.UNKNOWN_CHARSET, start, "the charset of a field is not a superset of US-ASCII");
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

    /** {@return whether visible ASCII is itself in a charset; also where the platform does not know it} */
    private static boolean keepsAscii(String charset) {
        Charset named = Text.charset(charset);
        return named == null || Text.keepsAscii(named);
    }

    private @Nullable Refusal checkContentLength() {
        if (lengthField == ABSENT) {
            return null;
        }
        long length = lengthOf(lengthField);
        int odd = length == ABSENT ? lengthField : secondLengthField;
        contentLength = secondLengthField == ABSENT ? length : ABSENT;
        return odd == ABSENT || accept(Deviation.PART_CONTENT_LENGTH, section.valueStart(odd))
                ? null
                : refuse(
                        Reason.MALFORMED_HEADER,
                        section.valueStart(odd),
                        "the Content-Length of a part is not a number, or occurs twice");
    }

    /** {@return the number that a field is, at most {@link Long#MAX_VALUE}, or {@link #ABSENT} where it is none} */
    private long lengthOf(int field) {
        int from = section.arrayOffset() + section.valueStart(field);
        int to = section.arrayOffset() + section.valueEnd(field);
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

    private @Nullable Refusal countFile() {
        if (names.hasFilename() && ++files > options.maxFiles()) {
            return refuse(Reason.TOO_MANY_FILES, section.valueStart(dispositionField), "");
        }
        return null;
    }

    private boolean accept(Deviation kind, int index) {
        return deviations.accept(kind, part, section.offsetOf(index));
    }

    private Refusal refuse(Reason reason, int index, String detail) {
        return new Refusal(reason, section.offsetOf(index), detail, null);
    }

    long steps() {
        return disposition.steps();
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

    private int valueOf(int field) {
        return field == ABSENT ? ABSENT : section.valueStart(field);
    }

    @Nullable
    String contentType() {
        if (typeField == ABSENT) {
            return null;
        }
        int from = section.arrayOffset() + section.valueStart(typeField);
        int to = section.arrayOffset() + section.valueEnd(typeField);
        if (section.isFolded(typeField)) {
            byte[] unfolded = PartHead.unfold(section.array(), from, to, new int[0]);
            return new String(unfolded, options.headerCharset());
        }
        return new String(section.array(), from, to - from, options.headerCharset());
    }
}

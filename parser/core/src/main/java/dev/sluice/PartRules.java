package dev.sluice;

import dev.sluice.MultipartException.Reason;
import dev.sluice.buffer.Text;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether the header section of a part, complete and grammatical, is acceptable, and finds its name and file name.
 *
 * <p>Duplicate fields, undecodable bytes and the transfer encoding for every multipart type (RFC 2046, RFC 2045 section 6);
 * {@code Content-Disposition} for {@code multipart/form-data} only (RFC 7578 section 4.2): elsewhere it is read where it can be.
 */
final class PartRules {
    private static final int ABSENT = -1;

    private static final Map<Deviation, String> DETAILS = Map.of(
            Deviation.UNUSABLE_EXTENDED_PARAMETER, "an extended parameter cannot be used",
            Deviation.EXTENDED_FILENAME, "filename* is not used in form-data",
            Deviation.TWO_FILENAMES, "filename and filename* are both given",
            Deviation.CONFLICTING_FILENAMES, "filename and filename* differ",
            Deviation.PARAMETER_CONTINUATION, "filename* continuations are not used in form-data");

    private final MultipartOptions options;
    private final boolean formData;
    private final DispositionParser disposition;

    private final HeaderSection section;
    private final Deviations deviations;
    private int part;
    private int dispositionField;
    private int typeField;
    private int encodingField;
    /** Where each byte of an unfolded Content-Disposition was in the section; empty where it was not folded. */
    private int[] origins = new int[0];

    /** Whether {@link #disposition} is that of the part at hand. */
    private boolean hasDisposition;

    private boolean hasName;
    private boolean hasFilename;
    private @Nullable String otherFilename;
    private long files;

    private long errorOffset;
    private String errorDetail = "";

    PartRules(MultipartOptions options, boolean formData, HeaderSection section, Deviations deviations) {
        this.options = options;
        this.formData = formData;
        Preset preset = options.preset();
        this.disposition = new DispositionParser(formData ? preset : preset.accepting(Deviation.DISPOSITION_TYPE));
        this.section = section;
        this.deviations = deviations;
    }

    /** {@return null, or why the part is refused; {@link #errorOffset()} and {@link #errorDetail()} say where} */
    @Nullable
    Reason check(int partIndex) {
        part = partIndex;
        dispositionField = typeField = encodingField = ABSENT;
        hasDisposition = hasName = hasFilename = false;
        otherFilename = null;
        UsualSection usual = formData ? section.usualSection() : null;
        if (usual != null) {
            return take(usual);
        }
        Reason refused = findFields();
        refused = refused != null ? refused : checkText();
        refused = refused != null ? refused : checkTransferEncoding();
        if (formData) {
            refused = refused != null ? refused : checkDisposition();
            refused = refused != null ? refused : checkNested();
            refused = refused != null ? refused : countFile();
        } else if (refused == null && dispositionField != ABSENT && parseDisposition() == null) {
            hasName = disposition.hasName();
            findFilename();
        }
        return refused;
    }

    /** A usual section has nothing to object to but one file too many. */
    private @Nullable Reason take(UsualSection usual) {
        dispositionField = 0;
        typeField = usual.typeStart < 0 ? ABSENT : 1;
        disposition.take(section.array(), usual);
        hasDisposition = hasName = true;
        hasFilename = usual.filenameStart >= 0;
        return countFile();
    }

    private @Nullable Reason findFields() {
        byte[] array = section.array();
        int base = section.arrayOffset();
        for (int field = 0; field < section.count(); field++) {
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
            }
            if (before != ABSENT) {
                return refuse(Reason.DUPLICATE_HEADER, section.nameStart(field), "");
            }
        }
        return null;
    }

    private @Nullable Reason checkText() {
        for (int field = 0; field < section.count(); field++) {
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

    private @Nullable Reason checkTransferEncoding() {
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

    private @Nullable Reason checkDisposition() {
        if (dispositionField == ABSENT) {
            errorOffset = section.endOffset();
            errorDetail = "";
            return Reason.MISSING_CONTENT_DISPOSITION;
        }
        Reason refused = parseDisposition();
        int start = section.valueStart(dispositionField);
        if (disposition.typeEnd > disposition.typeStart && !disposition.isFormData()) {
            accept(Deviation.DISPOSITION_TYPE, start);
        }
        if (disposition.lenientAt >= 0) {
            accept(Deviation.DISPOSITION_SYNTAX, index(disposition.lenientAt));
        }
        if (refused != null) {
            return refuse(refused, index(disposition.errorAt), "Content-Disposition: " + disposition.errorDetail);
        }
        if (!disposition.hasName()) {
            return refuse(Reason.MISSING_NAME, start, "");
        }
        hasName = true;
        String extended = findFilename();
        return disposition.hasExtendedParameters() ? checkExtendedParameters(extended) : null;
    }

    private @Nullable Reason parseDisposition() {
        hasDisposition = true;
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

    /** {@return what {@code filename*} says, or null where there is none that can be used} */
    private @Nullable String findFilename() {
        hasFilename = disposition.hasFilename();
        if (!disposition.hasExtendedParameters()) {
            return null;
        }
        String extended = disposition.extendedFilenameAt < 0 ? null : disposition.extendedFilename();
        if (extended != null && (!hasFilename || disposition.filenameIsEncodedWord())) {
            otherFilename = extended;
        } else if (!hasFilename && disposition.continuationAt >= 0 && options.joinContinuations()) {
            otherFilename = disposition.joinedFilename(options.headerCharset());
        }
        hasFilename |= otherFilename != null;
        return extended;
    }

    /** Each extended parameter has a verdict of its own; from left to right. */
    private @Nullable Reason checkExtendedParameters(@Nullable String extended) {
        int extendedAt = disposition.extendedFilenameAt;
        Deviation verdict = Deviation.UNUSABLE_EXTENDED_PARAMETER;
        if (extended != null && !disposition.hasFilename()) {
            verdict = Deviation.EXTENDED_FILENAME;
        } else if (extended != null) {
            boolean same = extended.equals(disposition.filename(options.headerCharset()));
            verdict = same ? Deviation.TWO_FILENAMES : Deviation.CONFLICTING_FILENAMES;
            extendedAt = Math.max(extendedAt, disposition.filenameAt);
        }
        int[] positions = {
            disposition.extendedNameAt, disposition.nameContinuationAt, extendedAt, disposition.continuationAt
        };
        Deviation[] verdicts = {
            Deviation.UNUSABLE_EXTENDED_PARAMETER,
            Deviation.UNUSABLE_EXTENDED_PARAMETER,
            verdict,
            Deviation.PARAMETER_CONTINUATION
        };
        for (int next; (next = leftmost(positions)) >= 0; positions[next] = ABSENT) {
            int index = index(positions[next]);
            if (!accept(verdicts[next], index)) {
                return refuse(
                        Reason.MALFORMED_CONTENT_DISPOSITION,
                        index,
                        "Content-Disposition: " + DETAILS.get(verdicts[next]));
            }
        }
        return null;
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

    private @Nullable Reason checkNested() {
        if (typeField == ABSENT) {
            return null;
        }
        int start = section.valueStart(typeField);
        int from = section.arrayOffset() + start;
        int to = section.arrayOffset() + section.valueEnd(typeField);
        boolean nested = Keyword.MULTIPART.startsAt(section.array(), from, to);
        return !nested || accept(Deviation.NESTED_MULTIPART, start)
                ? null
                : refuse(Reason.UNSUPPORTED_MEDIA_TYPE, start, "a form-data part holds another multipart body");
    }

    private @Nullable Reason countFile() {
        if (hasFilename && ++files > options.maxFiles()) {
            return refuse(Reason.TOO_MANY_FILES, section.valueStart(dispositionField), "");
        }
        return null;
    }

    private boolean accept(Deviation kind, int index) {
        return deviations.accept(kind, part, section.offsetOf(index));
    }

    private Reason refuse(Reason reason, int index, String detail) {
        errorOffset = section.offsetOf(index);
        errorDetail = detail;
        return reason;
    }

    long errorOffset() {
        return errorOffset;
    }

    String errorDetail() {
        return errorDetail;
    }

    /** {@return the name of the part checked last, as far as it could be read; null where there is none} */
    @Nullable
    String knownName() {
        return hasDisposition && disposition.hasName() ? escapes(disposition.name(options.headerCharset())) : null;
    }

    /** {@return the work of reading Content-Disposition fields so far} */
    long steps() {
        return disposition.steps();
    }

    /** {@return the number of parts with a file name so far} */
    long files() {
        return files;
    }

    /** {@return what is known of the part whose body starts at {@code offset}} */
    PartHead head(long offset) {
        return new PartHead(
                part,
                offset,
                name(),
                filename(),
                section.copy(),
                valueOf(typeField),
                valueOf(encodingField),
                options.headerCharset());
    }

    private int valueOf(int field) {
        return field == ABSENT ? ABSENT : section.valueStart(field);
    }

    /** {@return the name; null only outside of form-data} */
    @Nullable
    String name() {
        return hasName ? escapes(disposition.name(options.headerCharset())) : null;
    }

    /** {@return the file name, or null where there is none} */
    @Nullable
    String filename() {
        if (otherFilename != null || !hasFilename) {
            return otherFilename;
        }
        return escapes(disposition.filename(options.headerCharset()));
    }

    private String escapes(String text) {
        return options.decodePercentEscapes() ? DispositionParser.decodePercentEscapes(text) : text;
    }

    /** {@return the Content-Type of the part, or null} */
    @Nullable
    String contentType() {
        if (typeField == ABSENT) {
            return null;
        }
        int from = section.arrayOffset() + section.valueStart(typeField);
        int to = section.arrayOffset() + section.valueEnd(typeField);
        if (section.isFolded(typeField)) {
            byte[] unfolded = PartHead.unfold(section.array(), from, to, new int[0]);
            return Text.decode(unfolded, 0, unfolded.length, options.headerCharset());
        }
        return Text.decode(section.array(), from, to - from, options.headerCharset());
    }
}

package dev.sluice.header;

import dev.sluice.buffer.Text;

/**
 * The header section that nearly every part has, in the spelling that browsers and most other clients use:
 *
 * <pre>
 * section = "Content-Disposition: form-data; name=" plain [ "; filename=" plain ] [ CRLF "Content-Type: " type ] CRLF CRLF
 * plain   = DQUOTE *( %x20-7E except DQUOTE and "\" ) DQUOTE, not starting with "=" as encoded words do
 * type    = token character *( %x20-7E except DQUOTE and "\" ), not ending with SP, not starting with "M" as "multipart/" does
 * </pre>
 *
 * <p>Such a section is recognized several bytes at a time. This works only for a section that is contiguous in memory. In this format, only
 * the parameters of the {@code Content-Type} can be a deviation. {@link HeaderSection}, {@link PartRules} and {@link DispositionParser}
 * read all other sections, and would produce the same result for a section in this format.
 */
final class CommonHeaders {
    private static final Keyword NAME = new Keyword("Content-Disposition: form-data; name=\"");
    private static final Keyword FILENAME = new Keyword("\"; filename=\"");
    private static final Keyword TYPE = new Keyword("\r\nContent-Type: ");
    private static final int ABSENT = -1;

    int nameStart;
    int nameEnd;
    /** -1 if the section has no file name. */
    int filenameStart;

    int filenameEnd;
    int dispositionEnd;
    /** -1 if the section has no {@code Content-Type}. */
    int typeStart;

    int typeEnd;
    int blankLine;

    /**
     * {@return whether {@code array[from..to)} starts with a section in this format} If so, sets the positions, which are indices in the
     * array.
     */
    boolean matches(byte[] array, int from, int to) {
        if (!NAME.startsExactlyAt(array, from, to)) {
            return false;
        }
        nameStart = from + NAME.length();
        nameEnd = Text.indexOfUnplain(array, nameStart, to);
        if (nameEnd == to || array[nameStart] == '=') {
            return false;
        }
        filenameStart = ABSENT;
        int at = nameEnd;
        if (FILENAME.startsExactlyAt(array, at, to)) {
            filenameStart = at + FILENAME.length();
            filenameEnd = Text.indexOfUnplain(array, filenameStart, to);
            at = filenameEnd;
        }
        if (at == to || array[at] != '"' || filenameStart >= 0 && array[filenameStart] == '=') {
            return false;
        }
        dispositionEnd = at + 1;
        return type(array, dispositionEnd, to);
    }

    private boolean type(byte[] array, int from, int to) {
        typeStart = ABSENT;
        int at = from;
        if (TYPE.startsExactlyAt(array, at, to)) {
            typeStart = at + TYPE.length();
            typeEnd = Text.indexOfUnplain(array, typeStart, to);
            at = typeEnd;
            if (at == typeStart || !isTypeStart(array[typeStart]) || array[at - 1] == ' ') {
                return false;
            }
        }
        blankLine = at + 2;
        return at + 4 <= to
                && array[at] == Bytes.CR
                && array[at + 1] == Bytes.LF
                && array[at + 2] == Bytes.CR
                && array[at + 3] == Bytes.LF;
    }

    private static boolean isTypeStart(byte b) {
        return Bytes.isToken(b) && (b | 0x20) != 'm';
    }
}

package dev.sluice;

import dev.sluice.buffer.Text;

/**
 * Recognizes the header section that nearly every part has as browsers and other clients write it, a word at a time:
 *
 * <pre>
 * usual = "Content-Disposition: form-data; name=" plain [ "; filename=" plain ] [ CRLF "Content-Type: " type ] CRLF CRLF
 * plain = DQUOTE *( %x20-7E except DQUOTE and "\" ) DQUOTE, not starting with "=" as encoded words do
 * type  = token character *( %x20-7E except DQUOTE and "\" ), not ending with SP, nor starting as "multipart/" does
 * </pre>
 *
 * <p>Only what lies in memory as a whole, and has one reading that no preset objects to. All else is left to {@link HeaderSection},
 * {@link PartRules} and {@link DispositionParser}, which come to the same where both can read it.
 */
final class UsualSection {
    private static final Keyword NAME = new Keyword("Content-Disposition: form-data; name=\"");
    private static final Keyword FILENAME = new Keyword("\"; filename=\"");
    private static final Keyword TYPE = new Keyword("\r\nContent-Type: ");
    private static final int ABSENT = -1;

    int nameStart;
    int nameEnd;
    /** -1 where there is none. */
    int filenameStart;

    int filenameEnd;
    int dispositionEnd;
    /** -1 where there is none. */
    int typeStart;

    int typeEnd;
    int blankLine;

    /** {@return whether {@code array[from..to)} starts with a usual section; sets the positions, all of them indexes in the array} */
    boolean matches(byte[] array, int from, int to) {
        if (!NAME.isUsualAt(array, from, to)) {
            return false;
        }
        nameStart = from + NAME.length();
        nameEnd = Text.indexOfUnplain(array, nameStart, to);
        if (nameEnd == to || array[nameStart] == '=') {
            return false;
        }
        filenameStart = ABSENT;
        int at = nameEnd;
        if (FILENAME.isUsualAt(array, at, to)) {
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
        if (TYPE.isUsualAt(array, at, to)) {
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

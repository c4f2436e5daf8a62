package dev.sluice;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which of the values of a {@code Content-Disposition} is the name of a part, and which its file name: the plain ones, the extended ones
 * of RFC 8187, the pieces of RFC 2231 or the encoded words of RFC 2047. What of it is acceptable {@link PartRules} decides.
 */
final class PartNames {
    static final Comparator<Oddity> FROM_LEFT_TO_RIGHT = Comparator.comparingInt(Oddity::position);

    /** What has a verdict of its own, and where in the disposition; a broken one was to be used and cannot be. */
    record Oddity(int position, Deviation kind, boolean broken) {}

    private final MultipartOptions options;
    private final DispositionParser disposition;

    boolean hasName;
    boolean hasFilename;

    /** What the name is where it is not the plain one as it came. */
    private @Nullable String otherName;

    /** What the file name is where it is not the plain one as it came. */
    private @Nullable String otherFilename;

    private @Nullable String extendedFilename;

    /** The extended parameters, and the values of encoded words. */
    final List<Oddity> oddities = new ArrayList<>(0);

    PartNames(MultipartOptions options, DispositionParser disposition) {
        this.options = options;
        this.disposition = disposition;
    }

    void clear() {
        hasName = hasFilename = false;
        otherName = otherFilename = extendedFilename = null;
        oddities.clear();
        disposition.clear();
    }

    /** Takes what is plain, and has been found already. */
    void take(UsualSection usual) {
        hasName = true;
        hasFilename = usual.filenameStart >= 0;
    }

    void findName() {
        hasName = disposition.name.isThere();
        otherName = words(disposition.name);
        if (hasName) {
            odd(disposition.extendedName, Deviation.UNUSABLE_EXTENDED_PARAMETER, false);
        }
        odd(disposition.nameContinuation, Deviation.UNUSABLE_EXTENDED_PARAMETER, false);
    }

    private @Nullable String words(DispositionParser.Parameter parameter) {
        String words = parameter.words(options.headerCharset());
        if (words != null) {
            odd(parameter, Deviation.ENCODED_WORD, false);
        }
        return options.decodeEncodedWords() ? words : null;
    }

    private void odd(DispositionParser.Parameter parameter, Deviation kind, boolean broken) {
        if (parameter.isThere()) {
            oddities.add(new Oddity(parameter.at, kind, broken));
        }
    }

    /** Takes {@code name*} where there is no name. {@return whether there is one} */
    boolean takeExtendedName() {
        otherName = disposition.extendedName.decoded();
        hasName = otherName != null;
        return hasName;
    }

    void findFilename() {
        hasFilename = disposition.filename.isThere();
        String extended = disposition.extendedFilename.decoded();
        extendedFilename = extended;
        if (extended != null && (!hasFilename || options.preferExtendedFilename() || isLossyFormOf(extended))) {
            otherFilename = extended;
        } else if (hasFilename) {
            otherFilename = words(disposition.filename);
        } else if (disposition.continuation.isThere() && options.joinContinuations()) {
            otherFilename = ExtendedValue.join(disposition.pieces, options.headerCharset());
        } else if (disposition.extendedFilename.isThere() && options.preset().accepts(Deviation.UNREADABLE_FILENAME)) {
            otherFilename = disposition.extendedFilename.text(options.headerCharset());
        }
        findOddities(extended);
        hasFilename |= otherFilename != null;
    }

    private void findOddities(@Nullable String extended) {
        boolean plain = disposition.filename.isThere();
        boolean joins = options.joinContinuations();
        boolean joined = joins && disposition.continuation.isThere() && otherFilename != null;
        boolean unreadable = !plain && extended == null && !joined;
        Deviation ofPieces = unreadable ? Deviation.UNREADABLE_FILENAME : Deviation.PARAMETER_CONTINUATION;
        odd(disposition.continuation, ofPieces, unreadable && joins);
        if (extended == null) {
            Deviation verdict = unreadable ? Deviation.UNREADABLE_FILENAME : Deviation.UNUSABLE_EXTENDED_PARAMETER;
            odd(disposition.extendedFilename, verdict, false);
        } else if (!plain) {
            odd(disposition.extendedFilename, Deviation.EXTENDED_FILENAME, false);
        } else {
            boolean same = extended.equals(disposition.filename.text(options.headerCharset()));
            boolean behind = disposition.filename.at > disposition.extendedFilename.at;
            odd(
                    behind ? disposition.filename : disposition.extendedFilename,
                    same ? Deviation.TWO_FILENAMES : Deviation.CONFLICTING_FILENAMES,
                    false);
        }
    }

    /** {@return whether the plain file name is what a client makes of the other one for readers that know no other} */
    private boolean isLossyFormOf(String extended) {
        if (disposition.filename.isEncodedWord()) {
            return true;
        }
        int[] lossy =
                disposition.filename.text(options.headerCharset()).codePoints().toArray();
        int[] whole = extended.codePoints().toArray();
        boolean same = lossy.length == whole.length;
        for (int i = 0; i < lossy.length && same; i++) {
            same = lossy[i] == whole[i] || whole[i] >= 128 && (lossy[i] == '?' || lossy[i] == '_');
        }
        return same;
    }

    /** {@return the name, as far as it could be read; null where there is none} */
    @Nullable
    String knownName() {
        return otherName != null || !disposition.name.isThere() ? otherName : plainName();
    }

    /** {@return the name; null only outside of form-data} */
    @Nullable
    String name() {
        return otherName != null || !hasName ? otherName : plainName();
    }

    private String plainName() {
        return escapes(disposition.name.text(options.headerCharset()));
    }

    @Nullable
    String filename() {
        return otherFilename != null ? otherFilename : plainFilename();
    }

    /** {@return the file name, or null, of a part with this plain one} */
    @Nullable
    String filename(@Nullable String plain) {
        return otherFilename != null ? otherFilename : plain;
    }

    @Nullable
    String plainFilename() {
        return hasFilename && disposition.filename.isThere()
                ? escapes(disposition.filename.text(options.headerCharset()))
                : null;
    }

    @Nullable
    String extendedFilename() {
        return extendedFilename;
    }

    private String escapes(String text) {
        if (!options.decodePercentEscapes()) {
            return text;
        }
        String quotes = text.replace("%22", "\"");
        return quotes.replace("%0D", "\r")
                .replace("%0d", "\r")
                .replace("%0A", "\n")
                .replace("%0a", "\n");
    }
}

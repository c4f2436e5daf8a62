package dev.sluice;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
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

    private boolean nameOfWords;
    private boolean filenameOfWords;
    private boolean joined;

    PartNames(MultipartOptions options, DispositionParser disposition) {
        this.options = options;
        this.disposition = disposition;
    }

    void clear() {
        hasName = hasFilename = nameOfWords = filenameOfWords = joined = false;
        otherName = otherFilename = extendedFilename = null;
        disposition.clear();
    }

    /** Takes what is plain, and has been found already. */
    void take(UsualSection usual) {
        hasName = true;
        hasFilename = usual.filenameStart >= 0;
    }

    void findName() {
        hasName = disposition.name.isThere();
        String words = disposition.name.words(options.headerCharset());
        nameOfWords = words != null;
        otherName = options.decodeEncodedWords() ? words : null;
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
            String words = disposition.filename.words(options.headerCharset());
            filenameOfWords = words != null;
            otherFilename = options.decodeEncodedWords() ? words : null;
        } else if (disposition.continuation.isThere() && options.joinContinuations()) {
            otherFilename = ExtendedValue.join(disposition.pieces, options.headerCharset());
            joined = otherFilename != null;
        } else if (disposition.extendedFilename.isThere() && options.preset().accepts(Deviation.UNREADABLE_FILENAME)) {
            otherFilename = disposition.extendedFilename.text(options.headerCharset());
        }
        hasFilename |= otherFilename != null;
    }

    /** {@return whether the plain file name is what a client makes of the other one for readers that know no other} */
    private boolean isLossyFormOf(String extended) {
        if (disposition.filename.isEncodedWord()) {
            return true;
        }
        int[] lossy =
                disposition.filename.text(options.headerCharset()).codePoints().toArray();
        int[] whole = extended.codePoints().toArray();
        return lossy.length == whole.length
                && IntStream.range(0, whole.length)
                        .allMatch(i -> lossy[i] == whole[i] || whole[i] >= 128 && (lossy[i] == '?' || lossy[i] == '_'));
    }

    /** {@return the extended parameters, and the values of encoded words, from left to right} */
    List<Oddity> oddities() {
        if (!disposition.hasExtendedParameters() && !nameOfWords && !filenameOfWords) {
            return List.of();
        }
        List<Oddity> found = new ArrayList<>();
        boolean plain = disposition.filename.isThere();
        boolean unreadable = !plain && extendedFilename == null && !joined;
        int extendedAt = disposition.extendedFilename.at;
        Deviation verdict = unreadable ? Deviation.UNREADABLE_FILENAME : Deviation.UNUSABLE_EXTENDED_PARAMETER;
        if (extendedFilename != null && !plain) {
            verdict = Deviation.EXTENDED_FILENAME;
        } else if (extendedFilename != null) {
            boolean same = extendedFilename.equals(disposition.filename.text(options.headerCharset()));
            verdict = same ? Deviation.TWO_FILENAMES : Deviation.CONFLICTING_FILENAMES;
            extendedAt = Math.max(extendedAt, disposition.filename.at);
        }
        if (disposition.name.isThere()) {
            add(found, disposition.extendedName.at, Deviation.UNUSABLE_EXTENDED_PARAMETER, false);
        }
        add(found, disposition.nameContinuation.at, Deviation.UNUSABLE_EXTENDED_PARAMETER, false);
        add(found, extendedAt, verdict, false);
        Deviation ofPieces = unreadable ? Deviation.UNREADABLE_FILENAME : Deviation.PARAMETER_CONTINUATION;
        add(found, disposition.continuation.at, ofPieces, unreadable && options.joinContinuations());
        if (nameOfWords) {
            add(found, disposition.name.at, Deviation.ENCODED_WORD, false);
        }
        if (filenameOfWords) {
            add(found, disposition.filename.at, Deviation.ENCODED_WORD, false);
        }
        found.sort(FROM_LEFT_TO_RIGHT);
        return found;
    }

    private static void add(List<Oddity> found, int position, Deviation kind, boolean broken) {
        if (position >= 0) {
            found.add(new Oddity(position, kind, broken));
        }
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

package dev.sluice.header;

import dev.sluice.Deviation;
import dev.sluice.MultipartOptions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The name and the file name of a part, chosen from the parameters of its {@code Content-Disposition}: plain, extended (RFC 8187), in
 * continuations (RFC 2231) or in encoded words (RFC 2047). {@link PartRules} decides whether the deviations found here are acceptable.
 */
public final class PartNames {
    static final Comparator<FoundDeviation> BY_POSITION = Comparator.comparingInt(FoundDeviation::position);

    /**
     * A deviation in a {@code Content-Disposition}.
     *
     * @param position the index in the array that the parser has read
     * @param unusable whether the only file name is in this parameter and cannot be decoded, so that every preset rejects the part
     */
    record FoundDeviation(int position, Deviation kind, boolean unusable) {}

    private final MultipartOptions options;
    private final DispositionParser disposition;

    boolean hasFilename;

    /** The name if it differs from the plain parameter; null otherwise. */
    private @Nullable String otherName;

    /** The file name if it differs from the plain parameter; null otherwise. */
    private @Nullable String otherFilename;

    private @Nullable String extendedFilename;

    /** Deviations of extended parameters, continuations and encoded words. */
    final List<FoundDeviation> found = new ArrayList<>(0);

    PartNames(MultipartOptions options, DispositionParser disposition) {
        this.options = options;
        this.disposition = disposition;
    }

    void clear() {
        hasFilename = false;
        otherName = otherFilename = extendedFilename = null;
        found.clear();
        disposition.clear();
    }

    /** Prepares the names of a section in the common format, which has only plain parameters. */
    void set(CommonHeaders common) {
        hasFilename = common.filenameStart >= 0;
    }

    void findName() {
        otherName = words(disposition.name);
        if (disposition.name.isPresent()) {
            addDeviation(disposition.extendedName, Deviation.UNUSABLE_EXTENDED_PARAMETER, false);
        }
        addDeviation(disposition.nameContinuation, Deviation.UNUSABLE_EXTENDED_PARAMETER, false);
    }

    private @Nullable String words(DispositionParser.Parameter parameter) {
        String words = parameter.words(options.headerCharset());
        if (words != null) {
            addDeviation(parameter, Deviation.ENCODED_WORD, false);
        }
        return options.decodeEncodedWords() ? words : null;
    }

    private void addDeviation(DispositionParser.Parameter parameter, Deviation kind, boolean unusable) {
        if (parameter.isPresent()) {
            found.add(new FoundDeviation(parameter.at, kind, unusable));
        }
    }

    /** {@return whether {@code name*} can be decoded} If so, uses it in place of the missing {@code name}. */
    boolean useExtendedName() {
        otherName = disposition.extendedName.decoded();
        return otherName != null;
    }

    void findFilename() {
        hasFilename = disposition.filename.isPresent();
        String extended = disposition.extendedFilename.decoded();
        extendedFilename = extended;
        if (extended != null && (!hasFilename || options.preferExtendedFilename() || isLossyFormOf(extended))) {
            otherFilename = extended;
        } else if (hasFilename) {
            otherFilename = words(disposition.filename);
        } else if (disposition.continuation.isPresent() && options.joinContinuations()) {
            otherFilename = disposition.joined(options.headerCharset());
        } else if (disposition.extendedFilename.isPresent()
                && options.preset().accepts(Deviation.UNREADABLE_FILENAME)) {
            otherFilename = disposition.extendedFilename.text(options.headerCharset());
        }
        findFilenameDeviations(extended);
        hasFilename |= otherFilename != null;
    }

    private void findFilenameDeviations(@Nullable String extended) {
        boolean plain = disposition.filename.isPresent();
        boolean joins = options.joinContinuations();
        boolean joined = joins && disposition.continuation.isPresent() && otherFilename != null;
        boolean unreadable = !plain && extended == null && !joined;
        Deviation ofPieces = unreadable ? Deviation.UNREADABLE_FILENAME : Deviation.PARAMETER_CONTINUATION;
        addDeviation(disposition.continuation, ofPieces, unreadable && joins);
        if (extended == null) {
            Deviation verdict = unreadable ? Deviation.UNREADABLE_FILENAME : Deviation.UNUSABLE_EXTENDED_PARAMETER;
            addDeviation(disposition.extendedFilename, verdict, false);
        } else if (!plain) {
            addDeviation(disposition.extendedFilename, Deviation.EXTENDED_FILENAME, false);
        } else {
            boolean same = extended.equals(disposition.filename.text(options.headerCharset()));
            boolean plainIsSecond = disposition.filename.at > disposition.extendedFilename.at;
            addDeviation(
                    plainIsSecond ? disposition.filename : disposition.extendedFilename,
                    same ? Deviation.TWO_FILENAMES : Deviation.CONFLICTING_FILENAMES,
                    false);
        }
    }

    /**
     * {@return whether the plain file name is a fallback for old parsers: an encoded word, or the extended file name with characters
     * replaced}
     */
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

    /** {@return the name; null outside of form-data if there is none, and after an error if the name was not read before it} */
    public @Nullable String name() {
        return otherName != null || !disposition.name.isPresent()
                ? otherName
                : escapes(disposition.name.text(options.headerCharset()));
    }

    /** {@return the file name; null if there is none} */
    public @Nullable String filename() {
        return otherFilename != null ? otherFilename : plainFilename();
    }

    /** {@return the file name of a part whose plain file name is {@code plain}; null if there is none} */
    public @Nullable String filename(@Nullable String plain) {
        return otherFilename != null ? otherFilename : plain;
    }

    /** {@return the {@code filename} parameter; null if there is none} */
    public @Nullable String plainFilename() {
        return disposition.filename.isPresent() ? escapes(disposition.filename.text(options.headerCharset())) : null;
    }

    /** {@return the decoded {@code filename*} parameter; null if there is none or it cannot be decoded} */
    public @Nullable String extendedFilename() {
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

package dev.sluice;

import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Which {@linkplain Deviation deviations} are accepted, accepted and reported, or refused. Immutable and thread-safe.
 *
 * <p>Start from one of the three and change single deviations:
 * {@code Preset.STANDARD.refusing(Deviation.FOLDED_HEADER)}.
 */
public final class Preset {
    /**
     * Takes what every mainstream client sends and what RFC 2046 and RFC 7578 allow; whatever two readers could read
     * differently is refused; tolerated oddities are reported. The default.
     */
    public static final Preset STANDARD;

    /** As {@link #STANDARD}, but refuses every reported oddity: behind an inspecting proxy, or as one. */
    public static final Preset STRICT;

    /** Takes also what Netty's decoder and Commons FileUpload take: old clients, migration. */
    public static final Preset COMPATIBLE;

    static {
        Set<Deviation> reported = EnumSet.of(
                Deviation.BOUNDARY_CHARACTERS,
                Deviation.LOOKALIKE_BOUNDARY,
                Deviation.PREAMBLE,
                Deviation.EPILOGUE,
                Deviation.TRANSPORT_PADDING,
                Deviation.LOOKALIKE_DELIMITER,
                Deviation.SHARED_LINE_END,
                Deviation.FOLDED_HEADER,
                Deviation.PART_CONTENT_LENGTH,
                Deviation.TRANSFER_ENCODING,
                Deviation.UNDECODABLE_HEADER,
                Deviation.CONTROL_IN_DISPOSITION,
                Deviation.LOOSE_PARAMETER,
                Deviation.ESCAPED_BACKSLASH,
                Deviation.EXTENDED_FILENAME,
                Deviation.TWO_FILENAMES,
                Deviation.CONFLICTING_FILENAMES,
                Deviation.UNUSABLE_EXTENDED_PARAMETER,
                Deviation.PARAMETER_CONTINUATION,
                Deviation.NESTED_MULTIPART,
                Deviation.AMBIGUOUS_CHARSET,
                Deviation.CHARSET_WITHOUT_ASCII,
                Deviation.UNKNOWN_CHARSET);
        STANDARD = new Preset(
                "STANDARD", bits(EnumSet.of(Deviation.BACKSLASH, Deviation.ENCODED_WORD)), bits(reported), false);
        STRICT = new Preset("STRICT", bits(EnumSet.of(Deviation.TWO_FILENAMES, Deviation.ENCODED_WORD)), 0, false);
        COMPATIBLE = new Preset(
                "COMPATIBLE",
                bits(EnumSet.of(
                        Deviation.BOUNDARY_CHARACTERS,
                        Deviation.LONG_BOUNDARY,
                        Deviation.LOOKALIKE_BOUNDARY,
                        Deviation.PREAMBLE,
                        Deviation.EPILOGUE,
                        Deviation.TRANSPORT_PADDING,
                        Deviation.LOOKALIKE_DELIMITER,
                        Deviation.SHARED_LINE_END,
                        Deviation.FALSE_DELIMITER,
                        Deviation.TEXT_AFTER_CLOSE_DELIMITER,
                        Deviation.CLOSE_DELIMITER_AFTER_PREAMBLE,
                        Deviation.FOLDED_HEADER,
                        Deviation.PART_CONTENT_LENGTH,
                        Deviation.TRANSFER_ENCODING,
                        Deviation.CONTROL_IN_DISPOSITION,
                        Deviation.LOOSE_PARAMETER,
                        Deviation.ESCAPED_BACKSLASH,
                        Deviation.BACKSLASH,
                        Deviation.EXTENDED_FILENAME,
                        Deviation.PARAMETER_CONTINUATION,
                        Deviation.NESTED_MULTIPART)),
                bits(EnumSet.of(
                        Deviation.COMMA_AFTER_MEDIA_TYPE,
                        Deviation.DELIMITER_IN_HEADER,
                        Deviation.BARE_LF,
                        Deviation.BARE_LF_IN_HEADER,
                        Deviation.UNDECODABLE_HEADER,
                        Deviation.DISPOSITION_TYPE,
                        Deviation.DISPOSITION_SYNTAX,
                        Deviation.ENCODED_WORD,
                        Deviation.EXTENDED_NAME,
                        Deviation.UNREADABLE_FILENAME,
                        Deviation.TWO_FILENAMES,
                        Deviation.CONFLICTING_FILENAMES,
                        Deviation.UNUSABLE_EXTENDED_PARAMETER,
                        Deviation.AMBIGUOUS_CHARSET,
                        Deviation.CHARSET_WITHOUT_ASCII,
                        Deviation.UNKNOWN_CHARSET)),
                true);
    }

    private final String name;
    private final long accepted;
    private final long reported;
    private final boolean decodes;

    private Preset(String name, long accepted, long reported, boolean decodes) {
        this.name = name;
        this.accepted = accepted;
        this.reported = reported;
        this.decodes = decodes;
    }

    /** {@return one of the three by its name, in any case; an {@link IllegalArgumentException} says that it is none} */
    public static Preset named(String name) {
        return Stream.of(STANDARD, STRICT, COMPATIBLE)
                .filter(preset -> preset.name.equalsIgnoreCase(name.strip()))
                .findFirst()
                .orElseThrow(() -> Setting.PRESET.unusable(name, null));
    }

    private Preset changed(long nowAccepted, long nowReported) {
        return new Preset(name + "+", nowAccepted, nowReported, decodes);
    }

    /** {@return this preset, but with {@code deviations} accepted silently} */
    public Preset accepting(Deviation... deviations) {
        long bits = bits(List.of(deviations));
        return changed(accepted | bits, reported & ~bits);
    }

    /** {@return this preset, but with {@code deviations} accepted and reported} */
    public Preset reporting(Deviation... deviations) {
        long bits = bits(List.of(deviations));
        return changed(accepted & ~bits, reported | bits);
    }

    /** {@return this preset, but with {@code deviations} refused} */
    public Preset refusing(Deviation... deviations) {
        long bits = bits(List.of(deviations));
        return changed(accepted & ~bits, reported & ~bits);
    }

    /** {@return whether {@code deviation} is accepted, silently or reported} */
    public boolean accepts(Deviation deviation) {
        return ((accepted | reported) & bit(deviation)) != 0;
    }

    /** {@return whether {@code deviation} is accepted and reported} */
    public boolean reports(Deviation deviation) {
        return (reported & bit(deviation)) != 0;
    }

    /**
     * {@return whether what old clients encode is decoded, unless options say otherwise: transfer encodings, nested forms,
     * continuations of parameters, encoded words, and {@code filename*} rather than {@code filename}. Accepting, reporting and refusing change nothing of it}
     */
    public boolean decodes() {
        return decodes;
    }

    private static long bits(Collection<Deviation> deviations) {
        long bits = 0;
        for (Deviation deviation : deviations) {
            bits |= bit(deviation);
        }
        return bits;
    }

    private static long bit(Deviation deviation) {
        return 1L << deviation.ordinal();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Preset that
                && accepted == that.accepted
                && reported == that.reported
                && decodes == that.decodes;
    }

    @Override
    public int hashCode() {
        return Objects.hash(accepted, reported, decodes);
    }

    /** {@return the name of the preset this one started from, with {@code +} for each change} */
    @Override
    public String toString() {
        return name;
    }
}

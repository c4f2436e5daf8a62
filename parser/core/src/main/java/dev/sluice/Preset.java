package dev.sluice;

import dev.sluice.Deviation.Verdict;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Which {@linkplain Deviation deviations} are accepted, accepted and reported, or refused. Immutable and thread-safe.
 *
 * <p>Start from one of the three and change single deviations:
 * {@code Preset.STANDARD.refusing(Deviation.FOLDED_HEADER)}.
 */
public final class Preset {
    /**
     * Takes what every mainstream client sends and what RFC 2046 and RFC 7578 allow; what can hide a part from a reader is
     * refused; oddities are reported, but for backslashes in names. The default.
     */
    public static final Preset STANDARD = new Preset("STANDARD", kind -> kind.standard, false);

    /**
     * As {@link #STANDARD}, but refuses every reported oddity, and {@link Deviation#BACKSLASH}: behind an inspecting proxy, or
     * as one.
     */
    public static final Preset STRICT = new Preset("STRICT", kind -> kind.strict, false);

    /** Takes also what Netty's decoder and Commons FileUpload take: old clients, migration. */
    public static final Preset COMPATIBLE = new Preset("COMPATIBLE", kind -> kind.compatible, true);

    private final String name;
    private final long accepted;
    private final long reported;
    private final boolean decodes;

    private Preset(String name, Function<Deviation, Verdict> verdicts, boolean decodes) {
        this(name, bits(verdicts, Verdict.ACCEPTED), bits(verdicts, Verdict.REPORTED), decodes);
    }

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

    private static long bits(Function<Deviation, Verdict> verdicts, Verdict verdict) {
        return bits(Stream.of(Deviation.values())
                .filter(kind -> verdicts.apply(kind) == verdict)
                .toList());
    }

    private static long bits(List<Deviation> deviations) {
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

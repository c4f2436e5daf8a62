package dev.sluice;

import dev.sluice.Deviation.Verdict;
import java.util.Arrays;
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
    /** Of each deviation, by its ordinal. */
    private final Verdict[] verdicts;

    private final boolean decodes;

    private Preset(String name, Function<Deviation, Verdict> verdicts, boolean decodes) {
        this(name, Stream.of(Deviation.values()).map(verdicts).toArray(Verdict[]::new), decodes);
    }

    private Preset(String name, Verdict[] verdicts, boolean decodes) {
        this.name = name;
        this.verdicts = verdicts;
        this.decodes = decodes;
    }

    /** {@return one of the three by its name, in any case; an {@link IllegalArgumentException} says that it is none} */
    public static Preset named(String name) {
        return Stream.of(STANDARD, STRICT, COMPATIBLE)
                .filter(preset -> preset.name.equalsIgnoreCase(name.strip()))
                .findFirst()
                .orElseThrow(() -> Setting.PRESET.unusable(name, null));
    }

    /** {@return this preset, but with {@code deviations} accepted silently} */
    public Preset accepting(Deviation... deviations) {
        return changed(Verdict.ACCEPTED, deviations);
    }

    /** {@return this preset, but with {@code deviations} accepted and reported} */
    public Preset reporting(Deviation... deviations) {
        return changed(Verdict.REPORTED, deviations);
    }

    /** {@return this preset, but with {@code deviations} refused} */
    public Preset refusing(Deviation... deviations) {
        return changed(Verdict.REFUSED, deviations);
    }

    private Preset changed(Verdict verdict, Deviation... deviations) {
        Verdict[] changed = verdicts.clone();
        for (Deviation deviation : deviations) {
            changed[deviation.ordinal()] = verdict;
        }
        return new Preset(name + "+", changed, decodes);
    }

    /** {@return whether {@code deviation} is accepted, silently or reported} */
    public boolean accepts(Deviation deviation) {
        return verdicts[deviation.ordinal()] != Verdict.REFUSED;
    }

    /** {@return whether {@code deviation} is accepted and reported} */
    public boolean reports(Deviation deviation) {
        return verdicts[deviation.ordinal()] == Verdict.REPORTED;
    }

    /**
     * {@return whether what old clients encode is decoded, unless options say otherwise: transfer encodings, nested forms,
     * continuations of parameters, encoded words, and {@code filename*} rather than {@code filename}. Accepting, reporting and refusing change nothing of it}
     */
    public boolean decodes() {
        return decodes;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Preset that && decodes == that.decodes && Arrays.equals(verdicts, that.verdicts);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(verdicts) + Boolean.hashCode(decodes);
    }

    /** {@return the name of the preset this one started from, with {@code +} for each change} */
    @Override
    public String toString() {
        return name;
    }
}

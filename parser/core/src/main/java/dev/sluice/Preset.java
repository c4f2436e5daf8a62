package dev.sluice;

import dev.sluice.Deviation.Verdict;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * A decision for each {@linkplain Deviation deviation}: accept, accept and report, or reject. Immutable and thread-safe.
 *
 * <p>Start from one of the three constants and change the decision for some deviations:
 * {@code Preset.STANDARD.refusing(Deviation.FOLDED_HEADER)}.
 */
public final class Preset {
    /**
     * The default. Accepts everything that mainstream clients send and that RFC 2046 and RFC 7578 allow. Rejects input that can hide a part
     * from another parser. Reports the other deviations, except {@link Deviation#BACKSLASH} and {@link Deviation#ENCODED_WORD}.
     */
    public static final Preset STANDARD = new Preset("STANDARD", kind -> kind.standard, false);

    /**
     * Like {@link #STANDARD}, but rejects {@link Deviation#BACKSLASH} and all reported deviations except {@link Deviation#TWO_FILENAMES}.
     * For a proxy that inspects forms, and for the servers after it.
     */
    public static final Preset STRICT = new Preset("STRICT", kind -> kind.strict, false);

    /**
     * Like {@link #STANDARD}, but also accepts the input that Netty's decoder and Commons FileUpload accept. For old clients and for
     * migration.
     */
    public static final Preset COMPATIBLE = new Preset("COMPATIBLE", kind -> kind.compatible, true);

    private final String name;
    /** The decisions, indexed by the ordinal of the deviation. */
    private final Verdict[] verdicts;

    private final boolean decodes;

    private Preset(String name, Function<Deviation, Verdict> verdicts, boolean decodes) {
        this.name = name;
        this.verdicts = Stream.of(Deviation.values()).map(verdicts).toArray(Verdict[]::new);
        this.decodes = decodes;
    }

    /**
     * {@return the preset with this name (case-insensitive)}
     *
     * @throws IllegalArgumentException if no preset has this name
     */
    public static Preset named(String name) {
        return Stream.of(STANDARD, STRICT, COMPATIBLE)
                .filter(preset -> preset.name.equalsIgnoreCase(name.strip()))
                .findFirst()
                .orElseThrow(() -> Setting.PRESET.unusable(name, null));
    }

    /** {@return this preset, but with {@code deviations} accepted without a report} */
    public Preset accepting(Deviation... deviations) {
        return changed(Verdict.ACCEPTED, deviations);
    }

    /** {@return this preset, but with {@code deviations} accepted and reported} */
    public Preset reporting(Deviation... deviations) {
        return changed(Verdict.REPORTED, deviations);
    }

    /** {@return this preset, but with {@code deviations} rejected} */
    public Preset refusing(Deviation... deviations) {
        return changed(Verdict.REFUSED, deviations);
    }

    private Preset changed(Verdict verdict, Deviation... deviations) {
        List<Deviation> changed = List.of(deviations);
        return new Preset(name + "+", kind -> changed.contains(kind) ? verdict : verdicts[kind.ordinal()], decodes);
    }

    /** {@return whether {@code deviation} is accepted, with or without a report} */
    public boolean accepts(Deviation deviation) {
        return verdicts[deviation.ordinal()] != Verdict.REFUSED;
    }

    /** {@return whether {@code deviation} is accepted and reported} */
    public boolean reports(Deviation deviation) {
        return verdicts[deviation.ordinal()] == Verdict.REPORTED;
    }

    /**
     * {@return whether the encodings of old clients are decoded by default: transfer encodings, nested bodies, continuations of parameters,
     * encoded words, and {@code filename*} in preference to {@code filename}. {@link #accepting}, {@link #reporting} and {@link #refusing}
     * do not change this}
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

    /** {@return the name of the original preset, with {@code +} for each change} */
    @Override
    public String toString() {
        return name;
    }
}

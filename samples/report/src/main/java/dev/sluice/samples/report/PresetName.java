package dev.sluice.samples.report;

import dev.sluice.Preset;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The names of the presets on a command line and in a query string. */
public enum PresetName {
    standard(Preset.STANDARD),
    /** Rejects every deviation. */
    strict(Preset.STRICT),
    /** Accepts the bodies of old clients. */
    compatible(Preset.COMPATIBLE);

    private final Preset preset;

    PresetName(Preset preset) {
        this.preset = preset;
    }

    /** {@return the preset named by a query; the default if it names none; null if the name is unknown} */
    public static @Nullable PresetName of(List<String> given) {
        for (PresetName name : values()) {
            if (given.isEmpty() || given.equals(List.of(name.name()))) {
                return name;
            }
        }
        return null;
    }

    public Preset preset() {
        return preset;
    }
}

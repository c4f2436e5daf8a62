package dev.sluice.samples.report;

import dev.sluice.Preset;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The presets by the names that a command line and a query string have for them. */
public enum PresetName {
    /** The default. */
    standard(Preset.STANDARD),
    /** Refuses every oddity. */
    strict(Preset.STRICT),
    /** Takes what old clients send. */
    compatible(Preset.COMPATIBLE);

    private final Preset preset;

    PresetName(Preset preset) {
        this.preset = preset;
    }

    /** {@return the one that a query names, the default where it names none, or null} */
    public static @Nullable PresetName of(List<String> given) {
        for (PresetName name : values()) {
            if (given.isEmpty() || given.equals(List.of(name.name()))) {
                return name;
            }
        }
        return null;
    }

    /** {@return what it stands for} */
    public Preset preset() {
        return preset;
    }
}

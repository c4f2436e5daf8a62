package dev.sluice.samples.report;

import dev.sluice.Preset;

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

    /** {@return what it stands for} */
    public Preset preset() {
        return preset;
    }
}

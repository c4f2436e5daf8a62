package dev.sluice.samples.upload;

import dev.sluice.Preset;

/** The presets by the names that a command line and a query string have for them. */
enum PresetName {
    standard(Preset.STANDARD),
    strict(Preset.STRICT),
    compatible(Preset.COMPATIBLE);

    private final Preset preset;

    PresetName(Preset preset) {
        this.preset = preset;
    }

    Preset preset() {
        return preset;
    }
}

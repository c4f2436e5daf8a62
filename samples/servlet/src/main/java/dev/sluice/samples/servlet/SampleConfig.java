package dev.sluice.samples.servlet;

import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.samples.report.PresetName;
import java.nio.file.Path;
import java.util.Objects;
import java.util.function.UnaryOperator;

/**
 * The configuration of a {@link ServletServer}. Immutable.
 *
 * @param host the address to listen on
 * @param port the port to listen on; 0 for any free one
 * @param directory the directory for the temporary files of uploads; created if missing
 * @param preset the preset of requests that do not name one
 * @param options changes the library's default options for forms
 */
public record SampleConfig(
        String host, int port, Path directory, PresetName preset, UnaryOperator<FormOptions.Builder> options) {
    /** The maximum memory of all forms together, and the default of the body limit: 64 MiB. */
    static final long MEMORY_BYTES = 64L << 20;

    public SampleConfig {
        Objects.requireNonNull(options.apply(FormOptions.inMemory(MemoryBudget.unlimited())));
    }

    /** {@return the defaults, on any free port of 127.0.0.1} */
    public static SampleConfig of(Path directory) {
        return new SampleConfig(
                "127.0.0.1", 0, directory, PresetName.standard, options -> options.maxBodyBytes(MEMORY_BYTES));
    }

    public SampleConfig withAddress(String otherHost, int otherPort) {
        return new SampleConfig(otherHost, otherPort, directory, preset, options);
    }

    public SampleConfig withPreset(PresetName otherPreset) {
        return new SampleConfig(host, port, directory, otherPreset, options);
    }

    /** {@return this configuration with additional options, which are applied last} */
    public SampleConfig with(UnaryOperator<FormOptions.Builder> more) {
        return new SampleConfig(host, port, directory, preset, builder -> more.apply(options.apply(builder)));
    }
}

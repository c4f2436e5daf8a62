package dev.sluice.samples.servlet;

import dev.sluice.samples.report.PresetName;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;

/**
 * How a {@link ServletServer} runs. Immutable.
 *
 * @param host the address to listen on
 * @param port the port to listen on; 0 for any free one
 * @param directory where uploads wait that do not stay in memory; created where it is missing
 * @param preset of requests that name none
 * @param maxBodyBytes the largest multipart body in bytes, 0 or more
 * @param minBytesPerSecond the least rate at which a client has to send a body, in bytes per second, 1 or more
 * @param rateGrace how long a client may send nothing at first
 * @param memoryBytes the most that all forms together may hold in memory, in bytes, 0 or more
 */
public record SampleConfig(
        String host,
        int port,
        Path directory,
        PresetName preset,
        long maxBodyBytes,
        long minBytesPerSecond,
        Duration rateGrace,
        long memoryBytes) {
    /** The default of {@link #maxBodyBytes()}: 64 MiB. */
    public static final long DEFAULT_MAX_BODY_BYTES = 64L << 20;

    /** The default of {@link #minBytesPerSecond()}. */
    public static final long DEFAULT_MIN_BYTES_PER_SECOND = 240;

    private static final Duration DEFAULT_RATE_GRACE = Duration.ofSeconds(5);
    private static final long DEFAULT_MEMORY_BYTES = 64L << 20;

    /** Checks what is given. */
    public SampleConfig {
        Objects.requireNonNull(host, "host");
        Objects.requireNonNull(directory, "directory");
        Objects.requireNonNull(preset, "preset");
        if (port < 0 || port > 65535) {
            throw new IllegalArgumentException("port has to be 0-65535, not " + port);
        }
        if (maxBodyBytes < 0) {
            throw new IllegalArgumentException("maxBodyBytes has to be 0 or more, not " + maxBodyBytes);
        }
        if (minBytesPerSecond < 1) {
            throw new IllegalArgumentException("minBytesPerSecond has to be 1 or more, not " + minBytesPerSecond);
        }
        if (rateGrace.isNegative() || rateGrace.isZero()) {
            throw new IllegalArgumentException("rateGrace has to be positive, not " + rateGrace);
        }
    }

    /** {@return the defaults, on any free port of 127.0.0.1} */
    public static SampleConfig of(Path directory) {
        return new SampleConfig(
                "127.0.0.1",
                0,
                directory,
                PresetName.standard,
                DEFAULT_MAX_BODY_BYTES,
                DEFAULT_MIN_BYTES_PER_SECOND,
                DEFAULT_RATE_GRACE,
                DEFAULT_MEMORY_BYTES);
    }

    /** {@return this, but with another address} */
    public SampleConfig withAddress(String otherHost, int otherPort) {
        return new SampleConfig(
                otherHost, otherPort, directory, preset, maxBodyBytes, minBytesPerSecond, rateGrace, memoryBytes);
    }

    /** {@return this, but with another preset} */
    public SampleConfig withPreset(PresetName otherPreset) {
        return new SampleConfig(
                host, port, directory, otherPreset, maxBodyBytes, minBytesPerSecond, rateGrace, memoryBytes);
    }

    /** {@return this, but with another limit} */
    public SampleConfig withMaxBodyBytes(long otherMaxBodyBytes) {
        return new SampleConfig(
                host, port, directory, preset, otherMaxBodyBytes, minBytesPerSecond, rateGrace, memoryBytes);
    }

    /** {@return this, but with another rate} */
    public SampleConfig withMinBytesPerSecond(long otherMinBytesPerSecond) {
        return new SampleConfig(
                host, port, directory, preset, maxBodyBytes, otherMinBytesPerSecond, rateGrace, memoryBytes);
    }

    /** {@return this, but with another time of grace} */
    public SampleConfig withRateGrace(Duration otherRateGrace) {
        return new SampleConfig(
                host, port, directory, preset, maxBodyBytes, minBytesPerSecond, otherRateGrace, memoryBytes);
    }

    /** {@return this, but with another budget} */
    public SampleConfig withMemoryBytes(long otherMemoryBytes) {
        return new SampleConfig(
                host, port, directory, preset, maxBodyBytes, minBytesPerSecond, rateGrace, otherMemoryBytes);
    }
}

package dev.sluice.samples.upload;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;

/**
 * How an {@link UploadServer} runs. Immutable.
 *
 * @param host the address to listen on
 * @param port the port to listen on; 0 for any free one
 * @param directory where files are stored; created where it is missing
 * @param maxBodyBytes the largest multipart body of {@code POST /upload} in bytes, 0 or more; for {@code POST
 *     /inspect} it is {@link #MAX_INSPECTED_BYTES}
 * @param rateGrace how long a client may send nothing at first; after it, it has to have sent
 *     {@link #MIN_BYTES_PER_SECOND} on average, over the time that the server waited for it
 * @param keepFreeBytes how much has to be free on the disk for a new file, in bytes, 0 or more; looked at when a file
 *     begins
 */
public record ServerConfig(
        String host, int port, Path directory, long maxBodyBytes, Duration rateGrace, long keepFreeBytes) {
    /** The default of {@link #maxBodyBytes()}: 16 GiB. */
    public static final long DEFAULT_MAX_BODY_BYTES = 16L << 30;

    /** The largest multipart body of {@code POST /inspect}: 64 MiB. */
    public static final long MAX_INSPECTED_BYTES = 64L << 20;

    /** The default of {@link #keepFreeBytes()}: 256 MiB. */
    public static final long DEFAULT_KEEP_FREE_BYTES = 256L << 20;

    /** The least rate at which a client has to send a body, in bytes per second. */
    public static final long MIN_BYTES_PER_SECOND = 240;

    private static final Duration DEFAULT_RATE_GRACE = Duration.ofSeconds(5);

    /** Checks what is given. */
    public ServerConfig {
        Objects.requireNonNull(host, "host");
        Objects.requireNonNull(directory, "directory");
        if (port < 0 || port > 65535) {
            throw new IllegalArgumentException("port has to be 0-65535, not " + port);
        }
        if (maxBodyBytes < 0) {
            throw new IllegalArgumentException("maxBodyBytes has to be 0 or more, not " + maxBodyBytes);
        }
        if (keepFreeBytes < 0) {
            throw new IllegalArgumentException("keepFreeBytes has to be 0 or more, not " + keepFreeBytes);
        }
        if (rateGrace.isNegative() || rateGrace.isZero()) {
            throw new IllegalArgumentException("rateGrace has to be positive, not " + rateGrace);
        }
    }

    /** {@return the defaults, on any free port of 127.0.0.1} */
    public static ServerConfig of(Path directory) {
        return new ServerConfig(
                "127.0.0.1", 0, directory, DEFAULT_MAX_BODY_BYTES, DEFAULT_RATE_GRACE, DEFAULT_KEEP_FREE_BYTES);
    }

    /** {@return this, but with another address} */
    public ServerConfig withAddress(String otherHost, int otherPort) {
        return new ServerConfig(otherHost, otherPort, directory, maxBodyBytes, rateGrace, keepFreeBytes);
    }

    /** {@return this, but with another limit} */
    public ServerConfig withMaxBodyBytes(long otherMaxBodyBytes) {
        return new ServerConfig(host, port, directory, otherMaxBodyBytes, rateGrace, keepFreeBytes);
    }

    /** {@return this, but with another time of grace} */
    public ServerConfig withRateGrace(Duration otherRateGrace) {
        return new ServerConfig(host, port, directory, maxBodyBytes, otherRateGrace, keepFreeBytes);
    }

    /** {@return this, but with another free space} */
    public ServerConfig withKeepFreeBytes(long otherKeepFreeBytes) {
        return new ServerConfig(host, port, directory, maxBodyBytes, rateGrace, otherKeepFreeBytes);
    }
}

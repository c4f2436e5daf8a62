package dev.sluice.samples.upload;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The configuration of an {@link UploadServer}. Immutable.
 *
 * @param host the address to listen on
 * @param port the port to listen on; 0 for any free one
 * @param directory the directory in which files are stored; created if missing
 * @param maxBodyBytes the largest multipart body of {@code POST /upload} in bytes, 0 or more; the limit of {@code POST
 *     /inspect} is {@link #MAX_INSPECTED_BYTES}
 * @param rateGrace the time at the start in which a client need not send anything. After that, the average rate must be
 *     at least {@link #MIN_BYTES_PER_SECOND}. The time in which the server does not read is not counted
 * @param keepFreeBytes the minimum free space to leave on the disk in bytes, 0 or more
 * @param tls whether the server uses TLS, with a certificate for localhost generated at start
 * @param bucket the bucket that replaces the directory, or null
 */
public record ServerConfig(
        String host,
        int port,
        Path directory,
        long maxBodyBytes,
        Duration rateGrace,
        long keepFreeBytes,
        boolean tls,
        @Nullable Bucket bucket) {
    /** A bucket of the object store at {@code endpoint}, which replaces the directory. */
    public record Bucket(URI endpoint, String name) {}

    /** The largest multipart body of {@code POST /inspect}: 64 MiB. */
    public static final long MAX_INSPECTED_BYTES = 64L << 20;

    /** The minimum rate at which a client must send a body, in bytes per second. */
    public static final long MIN_BYTES_PER_SECOND = 240;

    /**
     * {@return the defaults: any port of 127.0.0.1, bodies of 16 GiB, a grace of 5 seconds, 256 MiB kept free, no TLS}
     */
    public static ServerConfig of(Path directory) {
        return new ServerConfig("127.0.0.1", 0, directory, 16L << 30, Duration.ofSeconds(5), 256L << 20, false, null);
    }

    public ServerConfig withAddress(String otherHost, int otherPort) {
        return new ServerConfig(otherHost, otherPort, directory, maxBodyBytes, rateGrace, keepFreeBytes, tls, bucket);
    }

    public ServerConfig withMaxBodyBytes(long otherMaxBodyBytes) {
        return new ServerConfig(host, port, directory, otherMaxBodyBytes, rateGrace, keepFreeBytes, tls, bucket);
    }

    public ServerConfig withRateGrace(Duration otherRateGrace) {
        return new ServerConfig(host, port, directory, maxBodyBytes, otherRateGrace, keepFreeBytes, tls, bucket);
    }

    public ServerConfig withKeepFreeBytes(long otherKeepFreeBytes) {
        return new ServerConfig(host, port, directory, maxBodyBytes, rateGrace, otherKeepFreeBytes, tls, bucket);
    }

    public ServerConfig withTls(boolean otherTls) {
        return new ServerConfig(host, port, directory, maxBodyBytes, rateGrace, keepFreeBytes, otherTls, bucket);
    }

    /** {@return this configuration with files stored in a bucket, or in the directory if null} */
    public ServerConfig withBucket(@Nullable Bucket otherBucket) {
        return new ServerConfig(host, port, directory, maxBodyBytes, rateGrace, keepFreeBytes, tls, otherBucket);
    }
}

package dev.sluice.samples.upload;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

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
 * @param keepFreeBytes how much has to be free on the disk beside what is stored, in bytes, 0 or more
 * @param tls whether it speaks TLS, with a certificate for localhost that it makes at its start
 * @param bucket where files go instead of the directory, or null
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
    /** Where files go instead of the directory: a bucket of the object store at {@code endpoint}. */
    public record Bucket(URI endpoint, String name) {}

    /** The largest multipart body of {@code POST /inspect}: 64 MiB. */
    public static final long MAX_INSPECTED_BYTES = 64L << 20;

    /** The least rate at which a client has to send a body, in bytes per second. */
    public static final long MIN_BYTES_PER_SECOND = 240;

    /** {@return the defaults: any free port of 127.0.0.1, 16 GiB, 5 seconds, 256 MiB, no TLS} */
    public static ServerConfig of(Path directory) {
        return new ServerConfig("127.0.0.1", 0, directory, 16L << 30, Duration.ofSeconds(5), 256L << 20, false, null);
    }

    /** {@return this, but with another address} */
    public ServerConfig withAddress(String otherHost, int otherPort) {
        return new ServerConfig(otherHost, otherPort, directory, maxBodyBytes, rateGrace, keepFreeBytes, tls, bucket);
    }

    /** {@return this, but with another limit} */
    public ServerConfig withMaxBodyBytes(long otherMaxBodyBytes) {
        return new ServerConfig(host, port, directory, otherMaxBodyBytes, rateGrace, keepFreeBytes, tls, bucket);
    }

    /** {@return this, but with another time of grace} */
    public ServerConfig withRateGrace(Duration otherRateGrace) {
        return new ServerConfig(host, port, directory, maxBodyBytes, otherRateGrace, keepFreeBytes, tls, bucket);
    }

    /** {@return this, but with another free space} */
    public ServerConfig withKeepFreeBytes(long otherKeepFreeBytes) {
        return new ServerConfig(host, port, directory, maxBodyBytes, rateGrace, otherKeepFreeBytes, tls, bucket);
    }

    /** {@return this, but with TLS or without} */
    public ServerConfig withTls(boolean otherTls) {
        return new ServerConfig(host, port, directory, maxBodyBytes, rateGrace, keepFreeBytes, otherTls, bucket);
    }

    /** {@return this, but with files in a bucket, or in the directory if null} */
    public ServerConfig withBucket(@Nullable Bucket otherBucket) {
        return new ServerConfig(host, port, directory, maxBodyBytes, rateGrace, keepFreeBytes, tls, otherBucket);
    }
}

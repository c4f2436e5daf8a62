package dev.sluice.samples.upload;

import java.net.URI;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;
import software.amazon.awssdk.core.exception.SdkClientException;

/**
 * A converter for the address of an object store. It requires a scheme, because {@code localhost:8333} would be parsed
 * as a URI with the scheme localhost.
 */
final class StoreAddress implements ITypeConverter<URI> {
    /** The time in which a store must respond to the first requests. */
    static final int RESPONSE_SECONDS = 15;

    @Override
    public URI convert(String text) {
        URI address = URI.create(text);
        if (address.getHost() == null
                || address.getPort() > ServeCommand.MAX_PORT
                || !List.of("http", "https").contains(address.getScheme())) {
            throw new TypeConversionException(
                    "'" + text + "' is not a URL such as http://localhost:8333 or https://HOST");
        }
        return address;
    }

    /** {@return one line that explains why the store cannot be used} */
    static String reason(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        if (cause instanceof TimeoutException) {
            return "no response within " + RESPONSE_SECONDS + " seconds (is it an object store?)";
        }
        String message = Objects.toString(cause.getMessage(), cause.toString());
        if (message.contains("Unable to load credentials")) { // followed by a line for each place that was searched
            return "no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
        } else if (message.contains("NoSuchBucket")) {
            return "the bucket does not exist";
        } else if (message.matches(".*\\b404\\b.*")) {
            return message + " (is it an object store?)";
        } else if (message.matches(".*\\b40[13]\\b.*")) {
            return message + " (are AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY right?)";
        }
        return message.lines().findFirst().orElse(message)
                + (cause.getCause() instanceof SdkClientException ? " (is it running?)" : "");
    }
}

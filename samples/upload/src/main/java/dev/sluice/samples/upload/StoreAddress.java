package dev.sluice.samples.upload;

import java.net.URI;
import java.util.List;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * A converter for the address of an object store. Without its scheme, {@code localhost:8333} would be parsed as a URI
 * with the scheme localhost.
 */
final class StoreAddress implements ITypeConverter<URI> {
    @Override
    public URI convert(String text) {
        URI address = URI.create(text);
        if (address.getHost() == null || !List.of("http", "https").contains(address.getScheme())) {
            throw new TypeConversionException(
                    "'" + text + "' is not a URL such as http://localhost:8333 or https://HOST");
        }
        return address;
    }
}

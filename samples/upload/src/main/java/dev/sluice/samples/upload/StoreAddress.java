package dev.sluice.samples.upload;

import java.net.URI;
import java.util.List;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** The address of an object store: without its scheme, {@code localhost:8333} is an address of the scheme localhost. */
final class StoreAddress implements ITypeConverter<URI> {
    @Override
    public URI convert(String text) {
        URI address = URI.create(text);
        if (address.getHost() == null || !List.of("http", "https").contains(address.getScheme())) {
            throw new TypeConversionException("'" + text + "' is not like http://localhost:8333 or https://HOST");
        }
        return address;
    }
}

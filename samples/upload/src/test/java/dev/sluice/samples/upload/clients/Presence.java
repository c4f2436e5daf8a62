package dev.sluice.samples.upload.clients;

import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.sluice.testkit.Installed;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicNode;

/** Tests that need a client which may not be installed. */
public final class Presence {
    private Presence() {}

    /** {@return the tests of a client, or one skipped test if the client is not installed} */
    public static Stream<DynamicNode> of(
            String client, boolean present, Supplier<Stream<? extends DynamicNode>> tests) {
        return present
                ? tests.get().map(DynamicNode.class::cast)
                : Stream.of(dynamicTest(client, () -> Installed.require(client, false)));
    }
}

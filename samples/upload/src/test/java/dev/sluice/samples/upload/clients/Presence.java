package dev.sluice.samples.upload.clients;

import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicNode;

/** A client that this machine lacks is told in one line, or fails where all of them are required. */
public final class Presence {
    private static final boolean REQUIRED = "1".equals(System.getenv("SLUICE_REQUIRE_CLIENTS"));
    private static final Set<String> TOLD = ConcurrentHashMap.newKeySet();

    private Presence() {}

    /** {@return the tests of a client that is there, one that fails, or none} */
    public static Stream<DynamicNode> of(String label, boolean present, Supplier<Stream<? extends DynamicNode>> tests) {
        if (present) {
            return tests.get().map(DynamicNode.class::cast);
        }
        String line = "client not present: " + label;
        if (REQUIRED) {
            return Stream.of(dynamicTest(label, () -> fail(line + " (SLUICE_REQUIRE_CLIENTS=1)")));
        }
        if (TOLD.add(label)) {
            System.out.println(line);
        }
        return Stream.of();
    }
}

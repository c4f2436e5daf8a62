package dev.sluice.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.testkit.NativeImage;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A container makes the filter of its class or its name, in an image too. */
class NativeImageTest {
    @Test
    void theFilterCanBeMadeByAContainer() throws Exception {
        assertEquals(
                Set.of("dev.sluice.servlet.SluiceFilter", "dev.sluice.servlet.SluiceFilter#<init>[]"),
                NativeImage.types(SluiceFilter.class, "sluice-servlet"));
    }
}

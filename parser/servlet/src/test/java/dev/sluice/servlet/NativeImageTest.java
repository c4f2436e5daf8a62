package dev.sluice.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.testkit.NativeImage;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The native-image metadata allows a container to create the filter by reflection. */
class NativeImageTest {
    @Test
    void filter_canBeCreatedReflectively() throws Exception {
        assertEquals(
                Set.of("dev.sluice.servlet.SluiceFilter", "dev.sluice.servlet.SluiceFilter#<init>[]"),
                NativeImage.types(SluiceFilter.class, "sluice-servlet"));
    }
}

package dev.sluice.tika;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.testkit.NativeImage;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The native-image metadata for the resource that Tika loads; Tika itself ships none. */
class NativeImageTest {
    @Test
    void tikaTypes_areIncludedInNativeImage() throws Exception {
        assertEquals(
                Set.of("org/apache/tika/mime/tika-mimetypes.xml"),
                NativeImage.resources(MediaTypes.class, "sluice-tika"));
    }
}

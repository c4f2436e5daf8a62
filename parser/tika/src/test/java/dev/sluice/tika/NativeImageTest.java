package dev.sluice.tika;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.testkit.NativeImage;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Tika, which says nothing of images, reads what it knows from a resource. */
class NativeImageTest {
    @Test
    void theFormatsOfTikaAreInAnImage() throws Exception {
        assertEquals(
                Set.of("org/apache/tika/mime/tika-mimetypes.xml"),
                NativeImage.resources(MediaTypes.class, "sluice-tika"));
    }
}

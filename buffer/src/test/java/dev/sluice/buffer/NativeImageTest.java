package dev.sluice.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.testkit.NativeImage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** A class that an image lacks would not be looked through, without a word, and PARANOID would be slow. */
class NativeImageTest {
    @Test
    void theClassesOfNettyThatAreAskedForByNameAreInAnImage() throws Exception {
        Set<String> asked = Pattern.compile("find\\(\"([\\w.]+)\"\\)")
                .matcher(Files.readString(Path.of("src/main/java/dev/sluice/buffer/Wrappers.java")))
                .results()
                .map(found -> found.group(1))
                .collect(Collectors.toSet());
        assertEquals(asked, NativeImage.types(Wrappers.class, "sluice-buffer"));
    }
}

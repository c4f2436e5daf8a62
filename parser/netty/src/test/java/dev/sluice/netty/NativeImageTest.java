package dev.sluice.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.channel.ChannelHandler;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The metadata for native images lists the handlers: Netty looks up their methods by reflection, to skip those that do nothing. */
class NativeImageTest {
    @Test
    void metadata_listsEveryHandler() throws Exception {
        Path classes = Path.of(MultipartHandler.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        Set<String> handlers = new TreeSet<>();
        for (String file : classes.resolve("dev/sluice/netty").toFile().list()) {
            String name = "dev.sluice.netty." + file.replace(".class", "");
            if (ChannelHandler.class.isAssignableFrom(Class.forName(name))) {
                handlers.add(name);
            }
        }
        String expected = handlers.stream()
                .map(name -> """
                      {
                        "name": "%1$s",
                        "condition": {
                          "typeReachable": "%1$s"
                        },
                        "queryAllPublicMethods": true
                      }""".formatted(name).indent(2).stripTrailing())
                .collect(Collectors.joining(",\n", "[\n", "\n]\n"));
        String path = "/META-INF/native-image/dev.sluice/sluice-netty/reflect-config.json";
        try (InputStream listed = MultipartHandler.class.getResourceAsStream(path)) {
            assertEquals(expected, new String(listed.readAllBytes(), StandardCharsets.UTF_8));
        }
    }
}

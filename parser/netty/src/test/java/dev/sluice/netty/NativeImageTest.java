package dev.sluice.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.netty.channel.ChannelHandler;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The metadata for native images lists the handlers: Netty looks up their methods by reflection, to skip those that do nothing. */
class NativeImageTest {
    @Test
    void metadata_listsEveryHandler() throws IOException {
        String expected = new ClassFileImporter()
                .withImportOption(new ImportOption.DoNotIncludeTests()).importPackages("dev.sluice.netty").stream()
                        .filter(type -> type.isAssignableTo(ChannelHandler.class))
                        .map(JavaClass::getName)
                        .sorted()
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

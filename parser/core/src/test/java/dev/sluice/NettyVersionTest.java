package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.buffer.Delimiter;
import io.netty.buffer.ByteBuf;
import io.netty.util.ReferenceCounted;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Class paths with other versions of Netty, or with only a part of Netty. */
class NettyVersionTest {
    private static final String NEEDED = "Sluice needs netty-buffer and netty-common, 4.1.118 or newer; ";

    private static final List<Class<? extends Runnable>> FIRST = List.of(FirstBoundary.class, FirstOptions.class);

    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource({
        "Netty/Buffer, 4.1.117.Final, Netty/Buffer is 4.1.117.Final",
        "Netty/Buffer, 4.0.56.Final, Netty/Buffer is 4.0.56.Final",
        "Netty/Buffer, 4.1.118.Final,",
        "Netty/Buffer, 4.1.137.Final,",
        "Netty/Buffer, 4.2.0.Final,",
        // the classes of Netty in the jar of an application
        "shop, 1.0,",
        ", 1.0,",
    })
    void firstUse_throwsIfNettyIsTooOld(@Nullable String title, String version, @Nullable String problem)
            throws Exception {
        Path buffer = withManifest(jar(ByteBuf.class), title, version);
        for (Class<?> first : FIRST) {
            assertEquals(problem, problem(first, buffer, jar(ReferenceCounted.class)));
        }
    }

    @Test
    void bothJars_areChecked() throws Exception {
        Path common = withManifest(jar(ReferenceCounted.class), "Netty/Common", "4.1.100.Final");
        assertEquals("Netty/Common is 4.1.100.Final", problem(FirstBoundary.class, jar(ByteBuf.class), common));
    }

    @Test
    void nettyMissing_firstUseNamesTheMissingClass() throws Exception {
        for (Class<?> first : FIRST) {
            assertEquals("there is no io/netty/buffer/ByteBuf", problem(first, jar(ReferenceCounted.class)));
            assertEquals("there is no io/netty/util/ReferenceCounted", problem(first, jar(ByteBuf.class)));
        }
    }

    public static final class FirstBoundary implements Runnable {
        @Override
        public void run() {
            Boundary.of("x");
        }
    }

    public static final class FirstOptions implements Runnable {
        @Override
        public void run() {
            MultipartOptions.defaults();
        }
    }

    /** {@return the problem that {@code first} reports if only these jars of Netty are present; null if there is none} */
    private static @Nullable String problem(Class<?> first, Path... netty) throws Exception {
        List<URL> path = new ArrayList<>();
        for (Path jar : netty) {
            path.add(jar.toUri().toURL());
        }
        for (Class<?> type : new Class<?>[] {first, Boundary.class, Delimiter.class, Nullable.class}) {
            path.add(jar(type).toUri().toURL());
        }
        try (URLClassLoader loader =
                new URLClassLoader(path.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            Class<?> loaded = loader.loadClass(first.getName());
            assertNotSame(first, loaded);
            ((Runnable) loaded.getConstructor().newInstance()).run();
            return null;
        } catch (ExceptionInInitializerError | IllegalStateException e) {
            String message = e instanceof IllegalStateException
                    ? e.getMessage()
                    : e.getCause().getMessage();
            assertTrue(message.startsWith(NEEDED), message);
            return message.substring(NEEDED.length());
        }
    }

    private static Path jar(Class<?> type) throws Exception {
        return Path.of(URI.create(
                type.getProtectionDomain().getCodeSource().getLocation().toString()));
    }

    private Path withManifest(Path jar, @Nullable String title, String version) throws IOException {
        Manifest manifest = new Manifest();
        Attributes attributes = manifest.getMainAttributes();
        attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        attributes.put(Attributes.Name.IMPLEMENTATION_VERSION, version);
        if (title != null) {
            attributes.put(Attributes.Name.IMPLEMENTATION_TITLE, title);
        }
        Path copy = directory.resolve("netty.jar");
        try (JarFile from = new JarFile(jar.toFile());
                OutputStream out = Files.newOutputStream(copy);
                JarOutputStream to = new JarOutputStream(out, manifest)) {
            for (JarEntry entry : from.stream().toList()) {
                if (entry.getName().endsWith(".class") && !entry.getName().contains("module-info")) {
                    to.putNextEntry(new JarEntry(entry.getName()));
                    try (InputStream in = from.getInputStream(entry)) {
                        in.transferTo(to);
                    }
                    to.closeEntry();
                }
            }
        }
        return copy;
    }
}

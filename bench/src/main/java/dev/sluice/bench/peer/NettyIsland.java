package dev.sluice.bench.peer;

import dev.sluice.bench.body.Body;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.net.MalformedURLException;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * A second netty in the same JVM: loads the netty classes, and the adapters and Sluice classes linked with them, anew
 * instead of taking them from the parent. With the jars of netty 4.1 in front of the parent's, it is netty 4.1; without them
 * it is a fresh copy of the netty on the class path, with statics of its own.
 */
public final class NettyIsland extends URLClassLoader {

    static {
        registerAsParallelCapable();
    }

    /** The system property that has a benchmark run in threads of netty 4.1, which does not know those of 4.2. */
    public static final String THREADS_OF_41 = "dev.sluice.bench.netty41";

    private static final String ADAPTERS = "dev.sluice.bench.peer.bytebuf.";

    private NettyIsland(List<URL> jars) {
        super(jars.toArray(URL[]::new), NettyIsland.class.getClassLoader());
    }

    private static final class Netty41 {
        static final NettyIsland ISLAND = new NettyIsland(jarsOf41());
    }

    /** Netty 4.1, whose jars the build has put beside the benchmark's jar; one for the whole JVM. */
    public static NettyIsland netty41() {
        return Netty41.ISLAND;
    }

    /** Another copy of the netty on the class path. */
    public static NettyIsland copyOf42() {
        return new NettyIsland(List.of());
    }

    /** Installs a {@code RecordCounter} on this island, on which no buffer has been made yet. */
    public LongSupplier countRecords() {
        try {
            return (LongSupplier)
                    loadClass(ADAPTERS + "RecordCounter").getMethod("install").invoke(null);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Opens a peer through a public static method of one of the adapters, "new" for its constructor. */
    public Peer open(String adapter, String method, Body body, int chunkSize, Memory memory) {
        try {
            Class<?> type = loadClass(ADAPTERS + adapter);
            Class<?>[] parameters = {Body.class, int.class, Memory.class};
            return (Peer)
                    (method.equals("new")
                            ? type.getConstructor(parameters).newInstance(body, chunkSize, memory)
                            : type.getMethod(method, parameters).invoke(null, body, chunkSize, memory));
        } catch (InvocationTargetException e) {
            throw new IllegalStateException(e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!belongsHere(name)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return loaded != null ? loaded : findClass(name);
        }
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        if (getURLs().length > 0 && name.startsWith("io.netty.")) {
            return super.findClass(name);
        }
        String file = name.replace('.', '/') + ".class";
        try (InputStream in = getParent().getResourceAsStream(file)) {
            if (in == null) {
                throw new ClassNotFoundException(name);
            }
            byte[] bytes = in.readAllBytes();
            return defineClass(name, bytes, 0, bytes.length);
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    private static boolean belongsHere(String name) {
        return name.startsWith("io.netty.")
                || name.startsWith(ADAPTERS)
                || (name.startsWith("dev.sluice.") && !name.startsWith("dev.sluice.bench."));
    }

    private static List<URL> jarsOf41() {
        try {
            Path code = Path.of(NettyIsland.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
            List<URL> jars = new ArrayList<>();
            try (DirectoryStream<Path> files = Files.newDirectoryStream(code.resolveSibling("netty41"), "*.jar")) {
                for (Path file : files) {
                    jars.add(file.toUri().toURL());
                }
            }
            if (jars.isEmpty()) {
                throw new IllegalStateException("the jars of netty 4.1 are missing beside the benchmark's jar");
            }
            return jars;
        } catch (URISyntaxException | MalformedURLException e) {
            throw new IllegalStateException(e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

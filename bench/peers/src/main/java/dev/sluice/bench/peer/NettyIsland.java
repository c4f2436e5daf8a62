package dev.sluice.bench.peer;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.InvocationTargetException;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A class loader for a second Netty in the same JVM: Netty 4.1, or a copy of Netty 4.2 with separate static fields. It defines its own
 * classes of Netty, of Sluice and of the adapters between them, instead of delegating to its parent.
 */
public final class NettyIsland extends ClassLoader {
    static {
        registerAsParallelCapable();
    }

    /** The system property that makes a benchmark use threads of Netty 4.1, which does not recognize threads of Netty 4.2. */
    public static final String THREADS_OF_41 = "dev.sluice.bench.netty41";

    private static final String ADAPTERS = "dev.sluice.bench.peer.bytebuf.";

    private final String folder;

    /** @param folder the folder of Netty's class files in the resources */
    private NettyIsland(String folder) {
        super(NettyIsland.class.getClassLoader());
        this.folder = folder;
    }

    private static final class Netty41 {
        static final NettyIsland ISLAND = new NettyIsland("netty41/");
    }

    /** Returns the only loader of Netty 4.1. The build copies Netty's class files to the resources. */
    public static NettyIsland netty41() {
        return Netty41.ISLAND;
    }

    /** Creates a loader for another copy of the Netty on the class path. */
    public static NettyIsland copyOf42() {
        return new NettyIsland("");
    }

    /** Starts to count leak records. Call this before the loader creates a buffer. */
    public LongSupplier countRecords() {
        return (LongSupplier) call("RecordCounter", "install", new Class<?>[0]);
    }

    static Peer.Opener ofNetty41(String decoder) {
        return (body, chunkSize, memory) -> netty41().open(decoder, body, chunkSize, memory);
    }

    /** Calls {@code ByteBufPeer.open}. */
    public Peer open(String decoder, Body body, int chunkSize, Memory memory) {
        Class<?>[] types = {String.class, Body.class, int.class, Memory.class};
        return (Peer) call("ByteBufPeer", "open", types, decoder, body, chunkSize, memory);
    }

    private Object call(String adapter, String method, Class<?>[] types, Object... arguments) {
        try {
            return loadClass(ADAPTERS + adapter).getMethod(method, types).invoke(null, arguments);
        } catch (InvocationTargetException e) {
            throw new IllegalStateException(e.getCause());
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        boolean isNetty = name.startsWith("io.netty.");
        boolean isLinked = name.startsWith("dev.sluice.") && !name.startsWith("dev.sluice.bench.");
        if (!isNetty && !isLinked && !name.startsWith(ADAPTERS)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return loaded != null ? loaded : define(name, (isNetty ? folder : "") + name.replace('.', '/') + ".class");
        }
    }

    private Class<?> define(String name, String file) throws ClassNotFoundException {
        try (@Nullable InputStream in = getParent().getResourceAsStream(file)) {
            if (in == null) {
                throw new ClassNotFoundException(name);
            }
            byte[] bytes = in.readAllBytes();
            return defineClass(name, bytes, 0, bytes.length);
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }
}

package dev.sluice.buffer;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * Access to the buffers inside Netty's wrappers. At the leak detection levels ADVANCED and PARANOID, most calls on a tracked buffer record
 * a stack trace, which costs far more than the call. The wrapper classes are not public, so this class finds them with
 * {@link Class#forName}. A class that the Netty version in use does not have is ignored.
 */
final class Wrappers {
    private static final @Nullable Class<?> SIMPLE = find("io.netty.buffer.SimpleLeakAwareByteBuf");
    private static final @Nullable Class<?> SIMPLE_COMPOSITE = find("io.netty.buffer.SimpleLeakAwareCompositeByteBuf");
    private static final @Nullable Class<?> ADVANCED = find("io.netty.buffer.AdvancedLeakAwareByteBuf");
    private static final @Nullable Class<?> ADVANCED_COMPOSITE =
            find("io.netty.buffer.AdvancedLeakAwareCompositeByteBuf");

    private static final @Nullable Class<?> READ_ONLY = find("io.netty.buffer.ReadOnlyByteBuf");

    private Wrappers() {}

    /** {@return the buffer inside a leak-aware wrapper, or the buffer itself; both have the same indices} */
    static ByteBuf unwrap(ByteBuf buffer) {
        ByteBuf inner = buffer;
        while (isInstance(SIMPLE, inner) || isInstance(SIMPLE_COMPOSITE, inner)) {
            inner = inner.unwrap();
        }
        return inner;
    }

    /**
     * {@return the buffer inside a read-only view, or the buffer itself; both have the same indices}
     *
     * <p>Only read bytes from the result. Do not use its internal NIO buffer, because other code may depend on the position of that buffer.
     */
    static ByteBuf unwrapReadOnly(ByteBuf buffer) {
        ByteBuf inner = buffer;
        while (isInstance(READ_ONLY, inner)) {
            inner = inner.unwrap();
        }
        return inner;
    }

    /** {@return whether most calls on the buffer leave a leak record} */
    static boolean records(ByteBuf buffer) {
        return isInstance(ADVANCED, buffer) || isInstance(ADVANCED_COMPOSITE, buffer);
    }

    static @Nullable Class<?> find(String name) {
        try {
            return Class.forName(name, false, ByteBuf.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            return null;
        }
    }

    static boolean isInstance(@Nullable Class<?> type, ByteBuf buffer) {
        return type != null && type.isInstance(buffer);
    }
}

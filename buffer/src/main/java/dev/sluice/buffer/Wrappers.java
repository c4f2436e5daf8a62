package dev.sluice.buffer;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;

/**
 * Looks through the wrappers that netty puts around a buffer. At the leak levels ADVANCED and PARANOID most calls on a
 * tracked buffer leave a record, a stack trace, which costs far more than the call. Where netty has no class of a name
 * given here, nothing is looked through.
 */
final class Wrappers {
    private static final @Nullable Class<?> SIMPLE = find("io.netty.buffer.SimpleLeakAwareByteBuf");
    private static final @Nullable Class<?> SIMPLE_COMPOSITE = find("io.netty.buffer.SimpleLeakAwareCompositeByteBuf");
    private static final @Nullable Class<?> ADVANCED = find("io.netty.buffer.AdvancedLeakAwareByteBuf");
    private static final @Nullable Class<?> ADVANCED_COMPOSITE =
            find("io.netty.buffer.AdvancedLeakAwareCompositeByteBuf");

    private static final @Nullable Class<?> READ_ONLY = find("io.netty.buffer.ReadOnlyByteBuf");

    private Wrappers() {}

    /** {@return the buffer inside the leak-aware wrapper, or the buffer itself; its indices mean the same bytes} */
    static ByteBuf unwrap(ByteBuf buffer) {
        ByteBuf inner = buffer;
        while (isInstance(SIMPLE, inner) || isInstance(SIMPLE_COMPOSITE, inner)) {
            inner = inner.unwrap();
        }
        return inner;
    }

    /**
     * {@return the buffer inside a read-only view, or the buffer itself; its indices mean the same bytes}
     *
     * <p>For reading only, and for nothing that has a state of its own such as the internal NIO buffer.
     */
    static ByteBuf behindReadOnly(ByteBuf buffer) {
        ByteBuf inner = buffer;
        while (isInstance(READ_ONLY, inner)) {
            inner = inner.unwrap();
        }
        return inner;
    }

    /** {@return whether the buffer leaves a record for most calls} */
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

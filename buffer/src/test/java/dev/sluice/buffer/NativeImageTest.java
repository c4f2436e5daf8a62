package dev.sluice.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.testkit.NativeImage;
import java.lang.reflect.Field;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * If a native image lacked a wrapper class, buffers of that class would not be unwrapped, and reading them at level PARANOID would be slow.
 */
class NativeImageTest {
    @Test
    void nativeImage_containsWrapperClasses() throws Exception {
        Set<String> wrappers = new TreeSet<>();
        for (Field field : Wrappers.class.getDeclaredFields()) {
            if (field.getType() == Class.class) {
                field.setAccessible(true);
                wrappers.add(((Class<?>) field.get(null)).getName());
            }
        }
        assertEquals(wrappers, NativeImage.types(Wrappers.class, "sluice-buffer"));
    }
}

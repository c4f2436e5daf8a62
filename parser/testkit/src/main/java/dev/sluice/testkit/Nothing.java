package dev.sluice.testkit;

import java.lang.reflect.Proxy;
import java.util.Collections;
import java.util.Enumeration;

/**
 * Stubs of interfaces that a test needs but does not examine. Each method returns null, false, 0 or an empty
 * enumeration.
 */
public final class Nothing {
    private Nothing() {}

    public static <T> T of(Class<T> type) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, args) -> {
            Class<?> result = method.getReturnType();
            if (result == boolean.class) {
                return false;
            }
            if (result == int.class || result == long.class) {
                return result == int.class ? (Object) 0 : (Object) 0L;
            }
            return result == Enumeration.class ? Collections.emptyEnumeration() : null;
        }));
    }
}

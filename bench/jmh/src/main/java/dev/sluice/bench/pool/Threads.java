package dev.sluice.bench.pool;

import java.util.List;
import java.util.concurrent.ThreadFactory;

/** Platform threads, and virtual ones where the JVM has them. */
public final class Threads {
    private static final int JAVA_WITH_VIRTUAL_THREADS = 21;

    private Threads() {}

    /** The kinds of threads that the running JVM has. */
    public static List<String> namesHere() {
        return Runtime.version().feature() >= JAVA_WITH_VIRTUAL_THREADS
                ? List.of("platform", "virtual")
                : List.of("platform");
    }

    public static ThreadFactory named(String name) {
        return switch (name) {
            case "platform" -> Thread::new;
            case "virtual" -> virtual();
            default -> throw new IllegalArgumentException(name);
        };
    }

    /** By reflection: the classes are compiled for Java 17. */
    private static ThreadFactory virtual() {
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            return (ThreadFactory) Class.forName("java.lang.Thread$Builder")
                    .getMethod("factory")
                    .invoke(builder);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}

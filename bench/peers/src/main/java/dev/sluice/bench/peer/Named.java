package dev.sluice.bench.peer;

import java.util.Locale;

/** A constant whose name on the command line and in results is lower case with dashes. */
public interface Named {
    String name();

    default String id() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    static <E extends Enum<E> & Named> E of(Class<E> type, String id) {
        return Enum.valueOf(type, id.toUpperCase(Locale.ROOT).replace('-', '_'));
    }
}

package dev.sluice.bench.peer;

import java.util.Locale;

/** An enum constant with an id for the command line and the results: its name in lower case with dashes. */
public interface Named {
    String name();

    default String id() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    static <E extends Enum<E> & Named> E of(Class<E> type, String id) {
        return Enum.valueOf(type, id.toUpperCase(Locale.ROOT).replace('-', '_'));
    }
}

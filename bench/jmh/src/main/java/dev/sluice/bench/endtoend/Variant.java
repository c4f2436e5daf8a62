package dev.sluice.bench.endtoend;

import java.util.Locale;

/** What the measured server does with a body. All else is the same code in all of them. */
public enum Variant {
    /** As a server does it that stores files, because disks block; but nothing is stored. */
    SLUICE("Sluice, content to a worker", true),
    SLUICE_LOOP("Sluice, content dropped on the event loop", true),
    NETTY42_LOOP("Netty 4.2, content dropped on the event loop", true),
    /** What going to another thread costs. */
    HANDED_OVER("no decoder, chunks to a worker", false),
    DISCARD("no decoder, chunks dropped on the event loop", false);

    private final String title;
    private final boolean decodes;

    Variant(String title, boolean decodes) {
        this.title = title;
        this.decodes = decodes;
    }

    public String title() {
        return title;
    }

    /** Whether it finds parts; the others only count bytes. */
    public boolean decodes() {
        return decodes;
    }

    /** Whether the answer has to wait for another thread. */
    boolean usesWorker() {
        return this == SLUICE || this == HANDED_OVER;
    }

    /** The name used on the command line and in results: lower case with dashes. */
    public String id() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    public static Variant of(String id) {
        return valueOf(id.toUpperCase(Locale.ROOT).replace('-', '_'));
    }
}

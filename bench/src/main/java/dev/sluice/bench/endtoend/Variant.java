package dev.sluice.bench.endtoend;

import java.util.Locale;

/** What the sample server does with a body. All else is the same code in all of them. */
public enum Variant {
    /** As the server is, decoding on the event loop and handing content to a worker, but digest and disk off. */
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

    /** The name used on the command line and in results: lower case with dashes. */
    public String id() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    public static Variant of(String id) {
        return valueOf(id.toUpperCase(Locale.ROOT).replace('-', '_'));
    }
}

package dev.sluice.bench;

import dev.sluice.bench.peer.Named;

/** What the measured server does with a body. All else is the same code in all of them. */
enum Variant implements Named {
    HANDLER("Sluice's handler, everything on a worker", true),
    HANDLER_LOOP("Sluice's handler, everything on the event loop", true),
    /** As a server does it that stores files, because disks block; but nothing is stored. */
    SLUICE("Sluice, content to a worker", true),
    SLUICE_LOOP("Sluice, content dropped on the event loop", true),
    NETTY42("Netty 4.2, everything on a worker", true),
    NETTY42_LOOP("Netty 4.2, content dropped on the event loop", true),
    /** What going to another thread costs. */
    HANDED_OVER("no decoder, chunks to a worker", false),
    DISCARD("no decoder, chunks dropped on the event loop", false);

    final String title;
    /** Whether it finds parts; the others only count bytes. */
    final boolean decodes;

    Variant(String title, boolean decodes) {
        this.title = title;
        this.decodes = decodes;
    }

    /** Whether the answer has to wait for another thread. */
    boolean usesWorker() {
        return this == HANDLER || this == SLUICE || this == NETTY42 || this == HANDED_OVER;
    }

    /** Whether requests go to the handler. */
    boolean isHandled() {
        return this == HANDLER || this == HANDLER_LOOP;
    }

    static Variant of(String id) {
        return Named.of(Variant.class, id);
    }
}

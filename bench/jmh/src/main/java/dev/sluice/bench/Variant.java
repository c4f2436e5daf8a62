package dev.sluice.bench;

import dev.sluice.bench.peer.Named;

/** The ways in which {@link MeasuredServer} processes a body. */
enum Variant implements Named {
    HANDLER("Sluice's handler, everything on a worker", true),
    HANDLER_LOOP("Sluice's handler, everything on the event loop", true),
    /** Decodes on the event loop and passes the content to a worker, like a server that writes files to a disk. */
    SLUICE("Sluice, content to a worker", true),
    SLUICE_LOOP("Sluice, content dropped on the event loop", true),
    NETTY42("Netty 4.2, everything on a worker", true),
    NETTY42_LOOP("Netty 4.2, content dropped on the event loop", true),
    /** Shows the cost of passing chunks to another thread. */
    HANDED_OVER("no decoder, chunks to a worker", false),
    DISCARD("no decoder, chunks dropped on the event loop", false);

    final String title;
    /** Whether the variant finds parts; the others only count bytes. */
    final boolean decodes;

    Variant(String title, boolean decodes) {
        this.title = title;
        this.decodes = decodes;
    }

    /** Returns whether a worker thread processes the body or its content. */
    boolean usesWorker() {
        return this == HANDLER || this == SLUICE || this == NETTY42 || this == HANDED_OVER;
    }

    /** Returns whether requests are processed by Sluice's handler. */
    boolean isHandled() {
        return this == HANDLER || this == HANDLER_LOOP;
    }

    static Variant of(String id) {
        return Named.of(Variant.class, id);
    }
}

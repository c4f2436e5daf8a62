package dev.sluice.bench.containers;

import dev.sluice.bench.body.Named;

/** What becomes of a form in a servlet container; the servlet that reads all of its parts is the same. */
enum Intake implements Named {
    /** Sluice's. */
    FILTER,
    /** The container's own parser. */
    NATIVE,
    /** What there would be without any parser: the servlet reads the body and drops it. */
    DRAIN;

    String path() {
        return "/" + id();
    }
}

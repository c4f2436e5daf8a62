package dev.sluice.form;

import dev.sluice.PartHead;
import java.io.IOException;

/**
 * A callback that chooses the destination of each part before its content arrives.
 *
 * <p>Called once per part, after its headers, on the thread that drives the form. Must be thread-safe if its options are shared
 * by several forms.
 */
@FunctionalInterface
public interface PartDecider {
    /**
     * {@return what to do with the part}
     *
     * @param part the headers of the part; names and types are chosen by the client
     * @throws IOException to fail the form with this exception
     */
    PartDecision decide(PartHead part) throws IOException;
}

package dev.sluice.form;

import dev.sluice.PartHead;
import java.io.IOException;

/**
 * A callback that chooses the destination of each part before its content arrives.
 *
 * <p>It is called once per part, after the headers, on the thread that decodes the form. It must be thread-safe if
 * several forms share the options.
 */
@FunctionalInterface
public interface PartDecider {
    /**
     * {@return the destination of the part}
     *
     * @param part the headers of the part; the client chose the names and types
     * @throws IOException to fail the form with this exception
     */
    PartDecision decide(PartHead part) throws IOException;
}

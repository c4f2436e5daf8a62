package dev.sluice.form;

import dev.sluice.PartHead;
import java.io.IOException;

/**
 * Decides, for each part, where it goes; called when its headers have been read, on the thread that drives the form.
 */
@FunctionalInterface
public interface PartDecider {
    /**
     * {@return what to do with the part}
     *
     * @throws IOException if it cannot be decided; the form has then failed
     */
    PartDecision decide(PartHead part) throws IOException;
}

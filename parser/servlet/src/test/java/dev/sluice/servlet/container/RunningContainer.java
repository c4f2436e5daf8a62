package dev.sluice.servlet.container;

import dev.sluice.testkit.RawHttp;
import java.io.IOException;

/** A container that has been started; closing stops it and takes the application down. */
record RunningContainer(ServletContainer kind, int port, Stop stop) implements AutoCloseable {
    /** How it is stopped. */
    interface Stop {
        void now() throws Exception;
    }

    RawHttp connect() throws IOException {
        return new RawHttp(port);
    }

    @Override
    public void close() {
        try {
            stop.now();
        } catch (Exception e) {
            throw new IllegalStateException(kind + " does not stop", e);
        }
    }
}

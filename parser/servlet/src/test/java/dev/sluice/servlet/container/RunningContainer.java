package dev.sluice.servlet.container;

import dev.sluice.testkit.RawHttp;
import java.io.IOException;

/** A started container. Closing it stops the container and the application. */
record RunningContainer(ServletContainer kind, int port, Stop stop) implements AutoCloseable {
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

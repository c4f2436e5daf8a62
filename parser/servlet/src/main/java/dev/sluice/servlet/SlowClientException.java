package dev.sluice.servlet;

import java.io.IOException;

/** The client sent its body more slowly than the minimum rate. */
public final class SlowClientException extends IOException {
    private static final long serialVersionUID = 1L;

    SlowClientException(long minBytesPerSecond) {
        super("the client is slower than the minimum rate of " + minBytesPerSecond
                + " bytes per second (minBytesPerSecond)");
    }

    /** {@return 408} */
    public int httpStatus() {
        return 408;
    }
}

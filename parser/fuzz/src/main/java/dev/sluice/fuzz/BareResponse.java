package dev.sluice.fuzz;

import dev.sluice.testkit.Nothing;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;

/** A response that records the error sent with it. */
final class BareResponse extends HttpServletResponseWrapper {
    private static final HttpServletResponse NOTHING = Nothing.of(HttpServletResponse.class);

    private boolean committed;
    private boolean closes;
    private int status;
    private String message = "";

    BareResponse() {
        super(NOTHING);
    }

    /** {@return the status of the error, or 0} */
    @Override
    public int getStatus() {
        return status;
    }

    /** {@return the message of the error, or an empty string} */
    String message() {
        return message;
    }

    /** {@return whether the connection will be closed} */
    boolean closes() {
        return closes;
    }

    /** Commits the response, as if the application had sent the beginning of it. */
    void commit() {
        committed = true;
    }

    @Override
    public boolean isCommitted() {
        return committed;
    }

    @Override
    public void setHeader(String name, String value) {
        closes |= name.equalsIgnoreCase("Connection") && value.equalsIgnoreCase("close");
    }

    @Override
    public void sendError(int error, String text) {
        if (committed) {
            throw new IllegalStateException("the response is committed");
        }
        committed = true;
        status = error;
        message = text;
    }
}

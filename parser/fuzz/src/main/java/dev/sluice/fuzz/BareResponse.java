package dev.sluice.fuzz;

import dev.sluice.testkit.Nothing;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;

/** A response that shows whether, and with what error, it was answered. */
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

    /** {@return the text of the error, or an empty one} */
    String message() {
        return message;
    }

    /** {@return whether the connection is to be closed} */
    boolean closes() {
        return closes;
    }

    /** The application has sent some of its answer. */
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

package dev.sluice.servlet;

import jakarta.servlet.ServletResponse;
import jakarta.servlet.ServletResponseWrapper;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The response that the application gets. It records calls of {@code sendError}, and refers to the form of its request. If
 * the body was rejected before its end, this response has {@code Connection: close}, because the container may otherwise
 * keep reading the body. A response without {@code setStatus}, {@code sendError} or {@code sendRedirect(String)}
 * does not get that header.
 */
final class FilteredResponse extends HttpServletResponseWrapper {
    private final RequestForm form;
    private boolean errorSent;

    FilteredResponse(HttpServletResponse response, RequestForm form) {
        super(response);
        this.form = form;
    }

    /** {@return the form of the request, or null if the response did not go through a filter} */
    static @Nullable RequestForm form(ServletResponse response) {
        ServletResponse layer = response;
        while (layer instanceof ServletResponseWrapper wrapper) {
            if (layer instanceof FilteredResponse filtered) {
                return filtered.form;
            }
            layer = wrapper.getResponse();
        }
        return null;
    }

    /** {@return whether {@code sendError} was called, so that the container writes the response} */
    boolean isErrorSent() {
        return errorSent;
    }

    private void closeAfterRejection() {
        if (form.closesConnection()) {
            setHeader("Connection", "close");
        }
    }

    @Override
    public void setStatus(int status) {
        closeAfterRejection();
        super.setStatus(status);
    }

    @Override
    public void sendRedirect(String location) throws IOException {
        closeAfterRejection();
        super.sendRedirect(location);
    }

    @Override
    public void sendError(int status) throws IOException {
        closeAfterRejection();
        super.sendError(status);
        errorSent = true;
    }

    @Override
    public void sendError(int status, String message) throws IOException {
        closeAfterRejection();
        super.sendError(status, message);
        errorSent = true;
    }
}

package dev.sluice.servlet;

import jakarta.servlet.ServletResponse;
import jakarta.servlet.ServletResponseWrapper;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** The response as the application sees it. Records {@code sendError}, and leads to the form of its request. */
final class FilteredResponse extends HttpServletResponseWrapper {
    private final RequestForm form;
    private boolean errorSent;

    FilteredResponse(HttpServletResponse response, RequestForm form) {
        super(response);
        this.form = form;
    }

    /** {@return the refusal of the form of the request; null if there is none, or no filter in front} */
    static @Nullable MultipartRequestException refusal(ServletResponse response) {
        ServletResponse layer = response;
        while (layer instanceof ServletResponseWrapper wrapper) {
            if (layer instanceof FilteredResponse filtered) {
                return filtered.form.refusal();
            }
            layer = wrapper.getResponse();
        }
        return null;
    }

    /** {@return whether the application has left the answer to the container} */
    boolean isErrorSent() {
        return errorSent;
    }

    @Override
    public void sendError(int status) throws IOException {
        super.sendError(status);
        errorSent = true;
    }

    @Override
    public void sendError(int status, String message) throws IOException {
        super.sendError(status, message);
        errorSent = true;
    }
}

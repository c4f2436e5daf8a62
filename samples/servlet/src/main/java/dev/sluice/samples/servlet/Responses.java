package dev.sluice.samples.servlet;

import dev.sluice.MultipartException;
import dev.sluice.samples.report.ErrorResponse;
import dev.sluice.samples.report.Json;
import dev.sluice.servlet.MultipartRequestException;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

final class Responses {
    private static final Logger LOG = LoggerFactory.getLogger(Responses.class);

    private Responses() {}

    static void json(HttpServletResponse response, int status, Object content) throws IOException {
        byte[] body = Json.bytes(content);
        response.setStatus(status);
        response.setContentType("application/json");
        response.setHeader("Cache-Control", "no-store");
        response.setHeader("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
        response.setHeader("X-Content-Type-Options", "nosniff");
        response.setHeader("Referrer-Policy", "no-referrer");
        response.setContentLength(body.length);
        response.getOutputStream().write(body);
    }

    static void error(HttpServletResponse response, ErrorResponse error) throws IOException {
        json(response, error.status(), error.asResponse());
    }

    /** Sends the error of a form that failed. The details of a storage failure go to the log. */
    static void reject(HttpServletResponse response, Throwable failure) throws IOException {
        if (!(failure instanceof MultipartException) && !(failure instanceof MultipartRequestException)) {
            broken(response, failure);
            return;
        }
        Throwable cause = failure.getCause();
        ErrorResponse error =
                ErrorResponse.of(failure instanceof MultipartException || cause == null ? failure : cause);
        if (error.status() >= 500) {
            LOG.warn("a form failed", failure);
        }
        error(response, error);
    }

    /** Sends the error of a form that was neither rejected nor stored, if the client can still receive a response. */
    private static void broken(HttpServletResponse response, Throwable failure) throws IOException {
        if (response.isCommitted()) {
            LOG.debug("a request failed after its response had begun", failure);
            return;
        }
        response.setHeader("Connection", "close");
        if (isTimeout(failure)) {
            error(response, ErrorResponse.http(408, "TOO_SLOW", "the client sent nothing for too long"));
        } else if (failure instanceof IOException) {
            LOG.debug("the client disconnected", failure);
            error(
                    response,
                    ErrorResponse.http(400, "CONNECTION_LOST", "the request body could not be read completely"));
        } else if (failure instanceof CancellationException) {
            error(response, ErrorResponse.http(503, "CLOSING", "the server is being closed"));
        } else {
            LOG.error("a request failed", failure);
            error(response, ErrorResponse.internal());
        }
    }

    /** {@return whether the container timed out waiting for the client} */
    private static boolean isTimeout(Throwable failure) {
        Throwable cause = failure;
        while (cause != null && !(cause instanceof TimeoutException)) {
            cause = cause.getCause();
        }
        return cause != null;
    }
}

package dev.sluice.samples.servlet;

import dev.sluice.samples.report.ErrorResponse;
import dev.sluice.samples.report.Json;
import java.nio.ByteBuffer;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.Callback;

/** A handler that sends JSON for all errors that no servlet has handled. */
final class JsonErrors implements Request.Handler {
    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        int status = response.getStatus();
        HttpStatus.Code code = HttpStatus.getCode(status);
        String word = code == null ? "HTTP_" + status : code.name();
        Object message = status >= 500 ? null : request.getAttribute(ErrorHandler.ERROR_MESSAGE);
        ErrorResponse error =
                ErrorResponse.http(status, word, message == null ? HttpStatus.getMessage(status) : message.toString());
        response.getHeaders().put(HttpHeader.CONTENT_TYPE, "application/json");
        response.getHeaders().put(HttpHeader.CACHE_CONTROL, "no-store");
        response.write(true, ByteBuffer.wrap(Json.bytes(error.asResponse())), callback);
        return true;
    }
}

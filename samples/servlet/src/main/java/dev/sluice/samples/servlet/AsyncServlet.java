package dev.sluice.samples.servlet;

import dev.sluice.form.MultipartForm;
import dev.sluice.samples.report.ErrorResponse;
import dev.sluice.servlet.MultipartRequestException;
import dev.sluice.servlet.MultipartRequests;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** {@code POST /async}: receives the parts as they arrive, without holding a thread while the client sends. */
final class AsyncServlet extends HttpServlet {
    private static final long serialVersionUID = 1L;
    private static final Logger LOG = LoggerFactory.getLogger(AsyncServlet.class);

    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
        AsyncContext context = request.startAsync();
        // A large upload may take long. The minimum rate ends one that is too slow.
        context.setTimeout(0);
        ArrivingParts parts = new ArrivingParts();
        MultipartRequests.receive(request, options -> options.decider(parts))
                .completion()
                .whenComplete((form, failure) -> {
                    try {
                        respond(request, response, parts, form, failure);
                    } catch (IOException e) {
                        LOG.debug("a response could not be sent", e);
                    } catch (RuntimeException e) {
                        LOG.error("a request failed", e);
                        response.setStatus(HttpServletResponse.SC_INTERNAL_SERVER_ERROR);
                    } finally {
                        context.complete();
                    }
                });
    }

    private static void respond(
            HttpServletRequest request,
            HttpServletResponse response,
            ArrivingParts parts,
            @Nullable MultipartForm form,
            @Nullable Throwable failure)
            throws IOException {
        if (form == null) {
            Responses.reject(response, Objects.requireNonNull(failure));
            return;
        }
        FormReport report;
        try {
            report = FormReport.of(parts.with(form), form, FormReport.parameters(request.getParameterMap()));
        } catch (MultipartRequestException e) {
            Responses.reject(response, e);
            return;
        } catch (IOException | RuntimeException e) {
            LOG.error("a request failed", e);
            Responses.error(response, ErrorResponse.internal());
            return;
        }
        Responses.json(response, 200, report);
    }
}

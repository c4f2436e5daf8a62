package dev.sluice.servlet.container;

import dev.sluice.form.FormPart;
import dev.sluice.form.MultipartForm;
import dev.sluice.servlet.MultipartRequests;
import io.netty.util.internal.PlatformDependent;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.Part;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/**
 * The servlet of the redeployed application, in a separate class loader. It answers with the size of the form and the direct
 * memory that Netty uses in this application.
 */
@SuppressWarnings("serial")
public final class RedeployedServlet extends HttpServlet {
    public RedeployedServlet() {}

    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response)
            throws IOException, ServletException {
        if ("async".equals(request.getQueryString())) {
            AsyncContext context = request.startAsync();
            MultipartRequests.receive(request).completion().whenComplete((form, failure) -> {
                if (failure == null) {
                    answer(response, bytes(form));
                }
                context.complete();
            });
            return;
        }
        long bytes = 0;
        for (Part part : request.getParts()) {
            try (InputStream in = part.getInputStream()) {
                bytes += in.readAllBytes().length;
            }
        }
        answer(response, bytes + request.getParameter("a").length() - 1);
    }

    private static long bytes(MultipartForm form) {
        return form.parts().stream().mapToLong(FormPart::size).sum();
    }

    private static void answer(HttpServletResponse response, long bytes) {
        try {
            response.getWriter().write(bytes + " " + Math.max(0, PlatformDependent.usedDirectMemory()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

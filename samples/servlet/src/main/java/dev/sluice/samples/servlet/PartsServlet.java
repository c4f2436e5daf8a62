package dev.sluice.samples.servlet;

import dev.sluice.form.FormPart;
import dev.sluice.form.MultipartForm;
import dev.sluice.samples.report.Digest;
import dev.sluice.samples.report.InspectionReport;
import dev.sluice.servlet.MultipartRequestException;
import dev.sluice.servlet.MultipartRequests;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.Part;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** {@code POST /parts}: an ordinary servlet that calls {@code getParts} after the multipart filter. */
final class PartsServlet extends HttpServlet {
    private static final long serialVersionUID = 1L;

    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response)
            throws ServletException, IOException {
        List<Part> parts;
        Map<String, List<String>> parameters;
        try {
            parts = List.copyOf(request.getParts());
            parameters = FormReport.parameters(request.getParameterMap());
        } catch (MultipartRequestException | IOException e) {
            // Without this, the filter would send the container's error page.
            Responses.reject(response, e);
            return;
        }
        // Data that the servlet API does not provide: offsets, the order of the headers, deviations, the size of the
        // body.
        MultipartForm form = MultipartRequests.form(request);
        List<InspectionReport.Part> described = new ArrayList<>();
        for (int i = 0; i < parts.size(); i++) {
            described.add(describe(parts.get(i), form.parts().get(i)));
        }
        Responses.json(response, 200, FormReport.of(described, form, parameters));
    }

    private static InspectionReport.Part describe(Part part, FormPart source) throws IOException {
        Digest digest = new Digest();
        try (InputStream in = part.getInputStream()) {
            digest.addAll(in);
        }
        return InspectionReport.Part.of(source.head(), part.getSize(), digest.hex());
    }
}

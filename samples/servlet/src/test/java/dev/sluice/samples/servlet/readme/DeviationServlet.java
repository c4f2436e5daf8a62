package dev.sluice.samples.servlet.readme;

// @start region="deviations"
import dev.sluice.ReportedDeviation;
import dev.sluice.servlet.MultipartRequests;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

final class DeviationServlet extends HttpServlet {
    private static final long serialVersionUID = 1L;

    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
        List<String> kinds = new ArrayList<>();
        for (ReportedDeviation deviation : MultipartRequests.form(request).deviations()) {
            kinds.add(deviation.kind() + " at " + deviation.offset());
        }
        response.getWriter().print(kinds);
    }
}
// @end

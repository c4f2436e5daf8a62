package dev.sluice.samples.s3.readme;

// @start region="servlet"
import dev.sluice.form.MultipartForm;
import dev.sluice.s3.S3Form;
import dev.sluice.s3.S3Sinks;
import dev.sluice.servlet.MultipartRequests;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

public class S3Servlet extends HttpServlet {
    private static final long serialVersionUID = 1L;

    private final transient S3Sinks sinks; // one per process

    public S3Servlet(S3Sinks sinks) {
        this.sinks = sinks;
    }

    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
        S3Form stored = sinks.newForm(); // one per request
        MultipartForm form = MultipartRequests.form(request, stored::options);
        response.setContentType("text/plain;charset=UTF-8"); // not HTML, because it contains a field
        response.getWriter().print(form.text("title") + ": form " + stored.id());
    }
}
// @end

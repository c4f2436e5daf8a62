package dev.sluice.samples.s3.readme;

// @start region="decider"
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartDecider;
import dev.sluice.form.PartDecision;
import dev.sluice.s3.S3Form;
import dev.sluice.s3.S3Sinks;
import dev.sluice.servlet.MultipartRequests;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
class OnlyPdf {
    private final S3Sinks sinks;

    OnlyPdf(S3Sinks sinks) {
        this.sinks = sinks;
    }

    @PostMapping(path = "/documents", produces = "text/plain") // not HTML, because it contains a field
    String upload(HttpServletRequest request) throws IOException {
        S3Form stored = sinks.newForm(); // one per request
        PartDecision rejection = PartDecision.reject(415, "only PDF files are accepted");
        PartDecider onlyPdf = part -> {
            if (part.filename() == null || "application/pdf".equals(part.mediaType())) {
                return stored.decide(part);
            } else if (part.filename().isEmpty()) { // no file was chosen if no content follows
                return PartDecision.peek(1, first -> first.length == 0 ? PartDecision.skip() : rejection);
            }
            return rejection;
        };
        MultipartForm form = MultipartRequests.form(
                request, options -> stored.options(options).decider(onlyPdf));
        return form.text("title") + ": form " + stored.id();
    }
}
// @end

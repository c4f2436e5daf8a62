package dev.sluice.samples.s3.readme;

// @start region="application"
import dev.sluice.spring.StoredForm;
import java.io.IOException;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

@SpringBootApplication
@RestController
public class Uploads {
    public static void main(String[] args) {
        SpringApplication.run(Uploads.class, args);
    }

    @PostMapping(path = "/uploads", produces = "text/plain") // not HTML, because it contains a field
    String upload(StoredForm form) throws IOException {
        return form.text("title") + ": " + form.files().size() + " files in form " + form.id();
    }
}
// @end

package dev.sluice.samples.mvc.readme;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.testkit.BrowserForm;
import dev.sluice.testkit.SpooledFiles;
import dev.sluice.testkit.TenUploads;
import java.net.URI;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

@Timeout(300)
class PhotoApplicationTest {
    @Test
    void application_storesPhotosOfAcceptedForms(@TempDir Path directory) throws Exception {
        Path stored = directory.resolve("photos");
        try (ConfigurableApplicationContext context = SpringApplication.run(
                PhotoApplication.class,
                "--server.port=0",
                "--spring.config.location=optional:classpath:/none/",
                "--spring.main.banner-mode=off",
                "--logging.level.root=ERROR",
                "--photos.directory=" + stored,
                "--sluice.directory=" + directory.resolve("spool"),
                "--spring.servlet.multipart.max-request-size=1MB")) {
            int port = context.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
            SpoolDirectory spool = context.getBean(SpoolDirectory.class);
            MemoryBudget memory = context.getBean(MemoryBudget.class);
            String sent = new TenUploads(port, "/upload", "photo", "image/jpeg", 1 << 20)
                    .send(() -> (long) SpooledFiles.below(stored).size(), () -> spool.files() + memory.used());
            assertEquals(TenUploads.all(200).replace("JSON: 415", "JSON: 400"), sent);
            URI upload = URI.create("http://127.0.0.1:" + port + "/upload");
            String shown = BrowserForm.submit(upload, "photo", directory);
            assertTrue(shown.contains("Sea: 2 photos stored"), shown);
            assertTrue(shown.contains("<pre"), "the browser shows the title as HTML: " + shown);
        }
    }
}

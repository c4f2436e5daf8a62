package dev.sluice.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.sluice.MultipartException;
import dev.sluice.MultipartReader;
import dev.sluice.form.FormOptions;
import dev.sluice.servlet.container.App;
import dev.sluice.servlet.container.AppTestBase;
import dev.sluice.testkit.TestForm;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A limit, for all paths or for one, is exact in every API of the filter. The core tests each limit. */
@Timeout(300)
class FilterPathsTest extends AppTestBase {
    @BeforeEach
    void serve() {
        app.on((request, response) -> {
            switch (request.getQueryString()) {
                case "receive" -> App.receive(request, response, form -> {});
                case "change" -> MultipartRequests.form(request, options -> options.maxFiles(1));
                case "reader" -> read(request, response);
                case "parameters" -> request.getParameterMap();
                default -> request.getParts();
            }
        });
    }

    private static void read(HttpServletRequest request, HttpServletResponse response) throws IOException {
        try (MultipartReader reader = MultipartRequests.reader(request)) {
            for (var part = reader.nextPart(); part != null; part = reader.nextPart()) {
                part.inputStream().readAllBytes();
            }
        } catch (MultipartException e) {
            response.setStatus(413);
        }
    }

    private static UnaryOperator<FormOptions.Builder> upTo(long bytes) {
        return options -> options.maxPartBytes(bytes);
    }

    private void assertMost(long bytes, String path) throws IOException {
        for (String api : new String[] {"parts", "receive", "change", "reader", "parameters"}) {
            String target = path + "?" + api;
            assertEquals(200, status(target, bytes), target);
            assertEquals(413, status(target, bytes + 1), target);
        }
    }

    private int status(String target, long bytes) throws IOException {
        return app.post(target, new TestForm().file("f", "f", new byte[(int) bytes]))
                .status();
    }

    @Test
    void path_mostSpecificPatternApplies() throws Exception {
        app.options(upTo(500));
        app.start(SluiceFilter.builder(app.formOptions())
                .path("/videos/*", upTo(1000))
                .path("/videos/short/*", upTo(200))
                .path("/videos/short", upTo(300))
                .path("/pictures", upTo(400))
                .build());
        assertMost(1000, "/videos");
        assertMost(1000, "/videos/a/b");
        assertMost(1000, "/videos/shorter");
        assertMost(300, "/videos/short");
        assertMost(200, "/videos/short/a");
        assertMost(400, "/pictures");
        assertMost(500, "/pictures/a");
        assertMost(500, "/videosx");
        assertMost(500, "/");
    }

    @Test
    void path_shorterGrace_isEnforced() throws Exception {
        app.start(SluiceFilter.builder(app.formOptions().toBuilder()
                        .minBytesPerSecond(1_000_000)
                        .minRateGrace(Duration.ofMinutes(1))
                        .build())
                .path("/hurry", options -> options.minRateGrace(Duration.ofMillis(100)))
                .build());
        assertEquals(408, app.send(TestForm.head("/hurry?receive", 1000)).status());
    }

    @Test
    void path_invalidPattern_isRejected() {
        SluiceFilter.Builder builder = SluiceFilter.builder(app.formOptions());
        for (String pattern : new String[] {"videos", "", "/videos*", "/vid*s/*", "*.avi"}) {
            assertThrows(IllegalArgumentException.class, () -> builder.path(pattern, upTo(1)), pattern);
        }
    }
}

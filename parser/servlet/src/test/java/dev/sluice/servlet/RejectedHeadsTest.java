package dev.sluice.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.MultipartException;
import dev.sluice.form.FormMetrics;
import dev.sluice.form.FormOptions;
import dev.sluice.form.FormSummary;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.servlet.container.App;
import dev.sluice.servlet.container.AppTestBase;
import dev.sluice.testkit.RawHttp;
import dev.sluice.testkit.TestForm;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Rejected forms in the metrics. If a form is rejected because of the request head, the filter answers before the body
 * is sent, and reports the form once.
 */
@Timeout(60)
class RejectedHeadsTest extends AppTestBase {
    private static final int LARGE = 100 << 20;

    private final List<String> reported = new CopyOnWriteArrayList<>();
    private SpoolDirectory small;

    @BeforeEach
    void start() throws Exception {
        small = SpoolDirectory.builder(directory.resolve("small"))
                .maxSpoolBytes(1 << 20)
                .open();
        FormOptions options = FormOptions.builder(small, app.memory)
                .unlimitedBodyBytes()
                .noMinimumRate()
                .metrics(new FormMetrics() {
                    @Override
                    public void formStarted() {
                        reported.add("started");
                    }

                    @Override
                    public void formEnded(FormSummary summary) {
                        assertEquals("127.0.0.1", summary.remoteAddress());
                        reported.add(summary.outcome() + " " + summary.reason() + place(summary.failure()));
                    }
                })
                .build();
        app.on((request, response) -> {
            switch (String.valueOf(request.getQueryString())) {
                case "receive" -> App.receive(request, response, form -> {});
                case "pass" -> response.getWriter().print("passed");
                default -> request.getParts();
            }
        });
        app.errorPage((request, response) -> response.getWriter().print(request.getParameter("a")));
        app.start(SluiceFilter.builder(options)
                .path("/limited", limited -> limited.maxBodyBytes(1000))
                .build());
    }

    @AfterEach
    void end() throws IOException {
        small.close();
    }

    private static String place(@Nullable Throwable failure) {
        return failure instanceof MultipartException rejected && rejected.partIndex() >= 0
                ? " part " + rejected.partIndex() + ' ' + rejected.fieldName() + ' ' + rejected.offset()
                : "";
    }

    @Test
    void rejectedPart_isReportedWithNameAndOffset() throws IOException {
        byte[] open = new TestForm()
                .field("a", "1")
                .file("photo", "f", new byte[5000])
                .open();
        byte[] cut = Arrays.copyOf(open, open.length - 1000);
        for (String api : new String[] {"", "?receive"}) {
            reported.clear();
            assertEquals(400, app.send(TestForm.request("/" + api, cut)).status());
            assertEquals(List.of("started", "TRUNCATED TRUNCATED part 1 photo " + cut.length), reported, api);
        }
    }

    private void assertRejected(int status, String outcome, String method, String target, String type, int length)
            throws IOException {
        reported.clear();
        byte[] head = TestForm.headOf(
                method, target, "Content-Type: " + type, "Content-Length: " + length, "Expect: 100-continue");
        try (RawHttp client = app.connect()) {
            RawHttp.Response response = client.send(head).anyResponse();
            assertEquals(status, response.status(), target);
            assertEquals("close", response.headers().get("connection"), target);
        }
        assertEquals(List.of("started", outcome), reported, target);
    }

    @Test
    void rejectedHead_isReportedOnce() throws IOException {
        String form = TestForm.CONTENT_TYPE;
        for (String api : new String[] {"", "?receive"}) {
            assertRejected(413, "LIMIT_EXCEEDED BODY_TOO_LARGE", "POST", "/limited" + api, form, LARGE);
            assertRejected(507, "OVERLOADED SPOOL_FULL", "POST", "/" + api, form, LARGE);
            assertRejected(400, "MALFORMED MISSING_BOUNDARY", "POST", "/" + api, "multipart/form-data", LARGE);
        }
        String mixed = "multipart/mixed; boundary=x";
        assertRejected(415, "MALFORMED UNSUPPORTED_MEDIA_TYPE", "POST", "/", mixed, LARGE);
        assertRejected(405, "REFUSED null", "DELETE", "/", form, LARGE);
    }

    @Test
    void requestWithoutUseOfForm_isNotReported() throws IOException {
        byte[] json = TestForm.request("POST", "/?pass", "application/json", new byte[] {'{', '}'});
        assertEquals("passed", app.send(json).body());
        assertEquals("passed", app.send(TestForm.headOf("GET", "/?pass")).body());
        assertEquals(
                "passed", app.post("/?pass", new TestForm().field("a", "1")).body());
        assertEquals(List.of(), reported);
    }
}

package dev.sluice.servlet.container;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.servlet.MultipartRequestException;
import dev.sluice.servlet.SluiceFilter;
import dev.sluice.testkit.RawHttp;
import dev.sluice.testkit.TestForm;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.MultipartConfigElement;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Error pages of requests with forms. The status is the same as without the filter, and all files and memory of the form
 * are released.
 */
@Timeout(300)
@Execution(ExecutionMode.CONCURRENT) // most of the time is waiting
class ErrorDispatchTest {
    private static final byte[] CONTENT = TestForm.noise(20_000, 3);
    private static final TestForm FORM = new TestForm().field("a", "1").file("f", "f.bin", CONTENT);

    @TempDir
    Path directory;

    private final WorkServlet servlet = new WorkServlet();
    private final WorkServlet page = new WorkServlet();
    private Store store;

    @BeforeEach
    void open() throws IOException {
        store = new Store(Files.createDirectory(directory.resolve("spool")));
        page.at("/", (request, response) -> {
            Collection<?> parts = request.getParts(); // Spring's DispatcherServlet does so for every error page
            boolean some = parts.size() == 2 && request.getPart("f") != null;
            response.getWriter()
                    .print(response.getStatus() + " " + (some || parts.isEmpty() && request.getPart("f") == null) + " "
                            + request.getParameter("a"));
        });
    }

    @AfterEach
    void close() throws IOException {
        store.close();
    }

    private WebApp app(boolean own) throws IOException {
        WebApp app = new WebApp(Files.createTempDirectory(directory, "container"));
        if (own) {
            MultipartConfigElement config = new MultipartConfigElement(directory.toString());
            return app.servlet("/app/*", servlet, config)
                    .servlet("/error", page, config)
                    .errorPage("/error");
        }
        SluiceFilter filter =
                SluiceFilter.of(store.options().spillThreshold(0).maxParts(2).build());
        return app.filter("/*", filter, DispatcherType.values()).servlet("/app/*", servlet);
    }

    private static String answer(RunningContainer container, TestForm form) throws IOException {
        return answer(container, form.post("/app/work"));
    }

    private static String answer(RunningContainer container, byte[] request) throws IOException {
        try (RawHttp connection = container.connect()) {
            RawHttp.Response response = connection.send(request).response();
            return response.status() + ": " + response.body();
        }
    }

    /** @param works the code of the servlet, by the expected answer */
    private void assertPages(ServletContainer kind, Map<String, Work> works) throws Exception {
        try (RunningContainer own = kind.start(app(true));
                RunningContainer filtered =
                        kind.start(app(false).servlet("/error", page).errorPage("/error"))) {
            for (Map.Entry<String, Work> each : works.entrySet()) {
                servlet.at("/work", each.getValue());
                String expected = each.getKey();
                assertEquals(expected.substring(0, 3), answer(own, FORM).substring(0, 3), "without the filter");
                assertEquals(expected, answer(filtered, FORM));
                store.assertEmpty(kind);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void errorPage_formNotParsed_hasNoFields(ServletContainer kind) throws Exception {
        Map<String, Work> works = new HashMap<>();
        for (int status : List.of(403, 404, 405)) {
            works.put(status + ": " + status + " true null", (request, response) -> response.sendError(status));
        }
        assertPages(kind, works);
    }

    @ParameterizedTest
    @EnumSource
    void errorPage_formParsed_hasFields(ServletContainer kind) throws Exception {
        assertPages(
                kind,
                Map.of(
                        "409: 409 true 1",
                        (request, response) -> {
                            request.getParts();
                            response.sendError(409);
                        },
                        "500: 500 true 1",
                        (request, response) -> {
                            request.getParts();
                            throw new IllegalArgumentException("thrown by the application");
                        }));
    }

    /** Undertow has no error page for such a failure. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "UNDERTOW")
    void errorPage_asyncDispatchFails_hasParts(ServletContainer kind) throws Exception {
        servlet.at("/work", (request, response) -> {
            if (request.getDispatcherType() == DispatcherType.ASYNC) {
                throw new IllegalArgumentException("thrown by the application");
            }
            request.getParts();
            request.startAsync().dispatch();
        });
        WorkServlet parts = new WorkServlet()
                .at(
                        "/",
                        (request, response) -> response.getWriter()
                                .print(request.getParts().size() + " " + request.getParameter("a")));
        try (RunningContainer container =
                kind.start(app(false).servlet("/error", parts).errorPage("/error"))) {
            assertEquals("500: 2 1", answer(container, FORM));
            store.assertEmpty(kind);
        }
    }

    @ParameterizedTest
    @EnumSource
    void errorPage_formRejected_hasNoParts(ServletContainer kind) throws Exception {
        servlet.at("/work", (request, response) -> request.getParts());
        try (RunningContainer container =
                kind.start(app(false).servlet("/error", page).errorPage("/error"))) {
            TestForm three = new TestForm().field("a", "1").field("b", "2").field("c", "3");
            assertEquals("413: 413 true null", answer(container, three));
        }
    }

    @ParameterizedTest
    @EnumSource
    void errorPage_errorBeforeFilter_hasNoFields(ServletContainer kind) throws Exception {
        WebApp app = new WebApp(Files.createTempDirectory(directory, "container"));
        Filter guard = (request, response, chain) -> ((HttpServletResponse) response).sendError(403);
        SluiceFilter filter = SluiceFilter.of(store.options().build());
        app.filter("/app/*", guard).filter("/*", filter, DispatcherType.values());
        app.servlet("/app/*", servlet).servlet("/error", page).errorPage("/error");
        try (RunningContainer container = kind.start(app)) {
            assertEquals("403: 403 true null", answer(container, FORM));
        }
    }

    /** In Undertow, the dispatcher type of the request is FORWARD after the forward. */
    @ParameterizedTest
    @EnumSource
    void errorPage_forwarded_hasNoParts(ServletContainer kind) throws Exception {
        servlet.at("/work", (request, response) -> response.sendError(403));
        WorkServlet forwarding = new WorkServlet()
                .at(
                        "/",
                        (request, response) -> request.getServletContext()
                                .getNamedDispatcher("/page")
                                .forward(request, response));
        WebApp app = app(false).servlet("/error", forwarding).servlet("/page", page);
        try (RunningContainer container = kind.start(app.errorPage("/error"))) {
            assertEquals("403: 403 true null", answer(container, FORM));
        }
    }

    /** The handler forwards to a servlet by name, as the Spring Boot starter does. The forward passes no filter. */
    @ParameterizedTest
    @EnumSource
    void rejectionHandler_canForwardToServlet(ServletContainer kind) throws Exception {
        servlet.at("/work", (request, response) -> request.getParts());
        WorkServlet rejected = new WorkServlet().at("/work", (request, response) -> {
            String again = "";
            try {
                request.getPart("a");
            } catch (MultipartRequestException e) {
                again = e.httpStatus() + " again";
            }
            response.setStatus(422);
            response.getWriter().print(again + ", " + response.getHeader("Allow"));
        });
        WebApp app = new WebApp(Files.createTempDirectory(directory, "container"));
        SluiceFilter filter = SluiceFilter.builder(store.options().maxParts(1).build())
                .rejectionHandler((request, response, rejection) -> {
                    if (request.getQueryString() != null) {
                        return false;
                    }
                    request.getServletContext().getNamedDispatcher("/rejected").forward(request, response);
                    return true;
                })
                .build();
        // With this configuration, the container would parse the form if the filter did not.
        MultipartConfigElement config = new MultipartConfigElement(directory.toString());
        app.filter("/*", filter, DispatcherType.values()).servlet("/app/*", servlet);
        app.servlet("/rejected", rejected, config)
                .servlet("/error", page, config)
                .errorPage("/error");
        try (RunningContainer container = kind.start(app)) {
            for (String[] each : new String[][] {
                {"413 again, null", "POST", TestForm.CONTENT_TYPE},
                {"415 again, null", "POST", TestForm.CONTENT_TYPE.replace("form-data", "mixed")},
                {"405 again, POST, PUT, PATCH", "GET", TestForm.CONTENT_TYPE},
            }) {
                assertEquals(
                        "422: " + each[0],
                        answer(container, TestForm.request(each[1], "/app/work", each[2], FORM.body())));
                store.assertEmpty(kind);
                String status = each[0].substring(0, 3);
                assertEquals(
                        status + ": " + status + " true null",
                        answer(container, TestForm.request(each[1], "/app/work?no", each[2], FORM.body())));
            }
        }
    }

    /**
     * Tomcat and Undertow do not call {@code onComplete} after {@code sendError}. Jetty does not call it after an
     * exception that is thrown when the response head has been sent.
     */
    @ParameterizedTest
    @CsvSource({"error, false", "error, true", "throw, false", "throw, true", "flush, false", "flush, true"})
    void failedAsyncRequest_leavesNothing(String how, boolean withPage) throws Exception {
        BlockingQueue<String> called = new LinkedBlockingQueue<>();
        servlet.at("/work", (request, response) -> {
            request.getParts();
            request.startAsync().setTimeout(0);
            called.add(how);
            if (how.equals("error")) {
                response.sendError(409);
                return;
            } else if (how.equals("flush")) {
                response.flushBuffer();
            }
            throw new IllegalArgumentException("thrown by the application");
        });
        for (ServletContainer kind : ServletContainer.values()) {
            WebApp app = app(false);
            if (withPage) {
                app.servlet("/error", page).errorPage("/error");
            }
            try (RunningContainer container = kind.start(app);
                    RawHttp connection = container.connect()) {
                connection.send(FORM.post("/app/work"));
                assertEquals(how, called.poll(2, TimeUnit.MINUTES));
                store.assertEmpty(kind);
            }
        }
    }
}

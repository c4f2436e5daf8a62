package dev.sluice.servlet.container;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartReader;
import dev.sluice.servlet.MultipartRequests;
import dev.sluice.servlet.SluiceFilter;
import dev.sluice.testkit.Eventually;
import dev.sluice.testkit.RawHttp;
import dev.sluice.testkit.TestForm;
import io.undertow.server.RequestTooBigException;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.MultipartConfigElement;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Mistakes in the configuration of the application or the container, and in request heads. The status shows whose
 * mistake it is: 4xx for the client, 5xx for the server.
 */
@Timeout(300)
class SetUpTest {
    private static final Logger LOGGER = Logger.getLogger(SluiceFilter.class.getPackageName());
    private static final TestForm FORM = new TestForm().field("a", "1").field("b", "2");

    @TempDir
    Path directory;

    private final Queue<String> logged = new ConcurrentLinkedQueue<>();
    private final Handler log = new Handler() {
        @Override
        public void publish(LogRecord line) {
            logged.add(line.getMessage()
                    + (line.getThrown() == null ? "" : ": " + line.getThrown().getCause()));
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    };
    private final WorkServlet servlet = new WorkServlet();
    private Store store;

    @BeforeEach
    void open() throws IOException {
        LOGGER.addHandler(log);
        LOGGER.setUseParentHandlers(false);
        store = new Store(Files.createDirectory(directory.resolve("spool")));
        servlet.at("/parts", (request, response) -> {
            String a = request.getParameter("a");
            response.getWriter().print(request.getParts().size() + a);
        });
        servlet.at("/reader", (request, response) -> {
            try (MultipartReader reader = MultipartRequests.reader(request)) {
                reader.nextPart();
            }
        });
        servlet.at(
                "/async",
                (request, response) -> App.receive(
                        request,
                        response,
                        form -> response.getWriter().print(form.parts().size() + form.text("a"))));
    }

    @AfterEach
    void close() throws IOException {
        LOGGER.removeHandler(log);
        LOGGER.setUseParentHandlers(true);
        store.close();
    }

    private WebApp app() throws IOException {
        return new WebApp(Files.createTempDirectory(directory, "container")).servlet("/app/*", servlet);
    }

    private SluiceFilter filter() {
        return SluiceFilter.of(store.options().build());
    }

    private static String answer(RunningContainer container, String head, byte[] body) throws IOException {
        try (RawHttp connection = container.connect()) {
            connection.send(head + "\r\n\r\n").send(body);
            RawHttp.Response response = connection.response();
            return response.status() + (response.status() == 200 ? " " + response.body() : "");
        }
    }

    private static String head(String method, String path, int length) {
        return method + " /app" + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + length;
    }

    private static String post(RunningContainer container, String path, String... headers) throws IOException {
        byte[] body = FORM.body();
        String head = head("POST", path, body.length) + "\r\nContent-Type: " + TestForm.CONTENT_TYPE;
        return answer(
                container,
                String.join("\r\n", head, String.join("\r\n", headers)).strip(),
                body);
    }

    @ParameterizedTest
    @EnumSource
    void bodyReadBeforeFilter_is500AndIsLogged(ServletContainer kind) throws Exception {
        for (int some : new int[] {1, 20, Integer.MAX_VALUE}) {
            Filter reading = (request, response, chain) -> {
                request.getInputStream().readNBytes(some);
                chain.doFilter(request, response);
            };
            WebApp app = app().filter("/*", reading).filter("/app/*", filter());
            try (RunningContainer container = kind.start(app)) {
                assertEquals("500", post(container, "/parts"), some + " bytes");
                // Undertow calls no read listener if the whole body was read before.
                if (some < FORM.body().length || kind != ServletContainer.UNDERTOW) {
                    assertEquals("500", post(container, "/async"), some + " bytes");
                }
                assertEquals(1, logged.size(), logged::toString);
                assertTrue(logged.remove().contains("map SluiceFilter before every filter"), logged::toString);
            }
            store.assertEmpty(kind);
        }
    }

    @ParameterizedTest
    @EnumSource
    void decider_throwsIoException_isLogged(ServletContainer kind) throws Exception {
        SluiceFilter filter = SluiceFilter.of(store.options()
                .decider(part -> {
                    throw new IOException("no space on /secret");
                })
                .build());
        try (RunningContainer container = kind.start(app().filter("/app/*", filter))) {
            for (String path : List.of("/parts", "/async")) {
                assertEquals("500", post(container, path));
                assertEquals(1, logged.size(), logged::toString);
                assertEquals("a form was not stored: java.io.IOException: no space on /secret", logged.remove());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void contradictoryHeaders_areRejected(ServletContainer kind) throws Exception {
        try (RunningContainer container = kind.start(app().filter("/app/*", filter()))) {
            for (String path : List.of("/parts", "/async")) {
                assertEquals("400", post(container, path, "Content-Type: text/plain"));
                assertEquals("400", post(container, path, "Content-Type: " + TestForm.CONTENT_TYPE));
                assertEquals("415", post(container, path, "Content-Encoding: gzip"));
                assertEquals("200 21", post(container, path, "Content-Encoding: identity"));
            }
        }
    }

    /** Undertow and WildFly fail in their streams. The other containers reject the request before all filters. */
    @ParameterizedTest
    @EnumSource
    void bodyBeyondContainerLimit_isAnsweredWith413(ServletContainer kind) throws Exception {
        Filter limiting = (request, response, chain) -> chain.doFilter(
                new HttpServletRequestWrapper((HttpServletRequest) request) {
                    @Override
                    public ServletInputStream getInputStream() throws IOException {
                        super.getInputStream().readAllBytes();
                        return new EarlyFinished((HttpServletRequest) getRequest()) {
                            private boolean begun;

                            @Override
                            public int read(byte[] target, int index, int length) throws IOException {
                                if (begun) {
                                    throw new RequestTooBigException("more than 2 MiB");
                                }
                                begun = true;
                                target[index] = '-';
                                return 1;
                            }

                            @Override
                            public int available() throws IOException {
                                throw new RequestTooBigException("more than 2 MiB");
                            }
                        };
                    }
                },
                response);
        try (RunningContainer container =
                kind.start(app().filter("/*", limiting).filter("/app/*", filter()))) {
            assertEquals("413", post(container, "/parts"));
            assertEquals("413", post(container, "/async"));
            assertEquals("413", post(container, "/reader"));
        }
    }

    @ParameterizedTest
    @EnumSource
    void disconnectBeforeBody_isNotLogged(ServletContainer kind) throws Exception {
        SluiceFilter filter = filter();
        try (RunningContainer container = kind.start(app().filter("/app/*", filter))) {
            for (int way = 0; way < 6; way++) {
                String head = head("POST", way < 3 ? "/parts" : "/async", 100) + "\r\nContent-Type: "
                        + TestForm.CONTENT_TYPE + "\r\n\r\n";
                try (RawHttp connection = container.connect().send(head)) {
                    Eventually.isTrue(() -> filter.live() == 1, () -> "the request did not arrive");
                    if (way % 3 == 0) {
                        connection.reset();
                    } else if (way % 3 == 1) {
                        connection.sendEnd();
                        Eventually.isTrue(() -> filter.live() == 0, () -> "the request did not end");
                    }
                }
                Eventually.isTrue(() -> filter.live() == 0, () -> "the request did not end");
                assertEquals(List.of(), List.copyOf(logged), "way " + way);
            }
        }
    }

    /** Like Grizzly in Payara, this stream reports that it is finished before the bytes that came with the head are read. */
    private static class EarlyFinished extends ServletInputStream {
        private final ByteArrayInputStream in;
        private final AsyncContext context;

        EarlyFinished(HttpServletRequest request) throws IOException {
            this.in = new ByteArrayInputStream(request.getInputStream().readAllBytes());
            this.context = request.isAsyncStarted() ? request.getAsyncContext() : null;
        }

        @Override
        public boolean isFinished() {
            return true;
        }

        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public void setReadListener(ReadListener listener) {
            context.start(() -> {
                try {
                    listener.onDataAvailable();
                    listener.onAllDataRead();
                } catch (IOException e) {
                    listener.onError(e);
                }
            });
        }

        @Override
        public int read() {
            return in.read();
        }
    }

    @ParameterizedTest
    @EnumSource
    void stream_finishedBeforeFirstRead_isRead(ServletContainer kind) throws Exception {
        Filter early = (request, response, chain) -> {
            request.startAsync();
            ServletInputStream in = new EarlyFinished((HttpServletRequest) request);
            chain.doFilter(
                    new HttpServletRequestWrapper((HttpServletRequest) request) {
                        @Override
                        public ServletInputStream getInputStream() {
                            return in;
                        }
                    },
                    response);
        };
        try (RunningContainer container = kind.start(app().filter("/*", early).filter("/app/*", filter()))) {
            assertEquals("200 21", post(container, "/async"));
        }
    }

    @ParameterizedTest
    @EnumSource
    void twoFilters_innerOptionsApplyUnlessBodyWasRead(ServletContainer kind) throws Exception {
        Filter asking = (request, response, chain) -> {
            request.getParameter("a");
            chain.doFilter(request, response);
        };
        SluiceFilter narrow = SluiceFilter.of(store.options().maxParts(1).build());
        try (RunningContainer container =
                kind.start(app().filter("/*", filter()).filter("/app/*", narrow, DispatcherType.ASYNC))) {
            assertEquals("413", post(container, "/parts"));
            assertEquals("413", post(container, "/async"));
            Eventually.isTrue(() -> narrow.live() == 0, () -> "the request did not end");
        }
        assertEquals(List.of(), List.copyOf(logged));
        try (RunningContainer container =
                kind.start(app().filter("/*", filter()).filter("*.x", asking).filter("/app/*", narrow))) {
            servlet.at("/parts.x", (request, response) -> response.setStatus(202));
            assertEquals("202", post(container, "/parts.x"));
            assertEquals("202", post(container, "/parts.x"));
            assertEquals(1, logged.size(), logged::toString);
            assertTrue(logged.remove().contains("a filter before it has already read"), "no warning was logged");
        }
    }

    /** Each servlet of Spring Boot has such a configuration. With it, Jetty would look for parts in the consumed body. */
    @ParameterizedTest
    @EnumSource
    void parameters_withMultipartConfig_keepTheConnection(ServletContainer kind) throws Exception {
        servlet.at(
                "/parameters",
                (request, response) -> response.getWriter()
                        .print(Arrays.toString(request.getParameterValues("a")) + request.getParameter("q")));
        WebApp app = new WebApp(Files.createTempDirectory(directory, "container"))
                .servlet("/app/*", servlet, new MultipartConfigElement(directory.toString()))
                .filter("/*", filter());
        try (RunningContainer container = kind.start(app);
                RawHttp connection = container.connect()) {
            for (int i = 0; i < 3; i++) {
                RawHttp.Response answer = connection
                        .send(FORM.post("/app/parameters?a=query&q=%62=c"))
                        .response();
                assertEquals("200 [query, 1]b=c", answer.status() + " " + answer.body());
            }
            RawHttp.Response malformed =
                    connection.send(FORM.post("/app/parameters?q=%zz")).response();
            assertEquals(400, malformed.status());
        }
    }

    @ParameterizedTest
    @EnumSource
    void otherMultipart_isRejectedUnlessAllowed(ServletContainer kind) throws Exception {
        servlet.at("/passed", (request, response) -> response.setStatus(202));
        String[][] others = {
            {"405", "GET", TestForm.CONTENT_TYPE},
            {"405", "DELETE", TestForm.CONTENT_TYPE},
            {"405", "post", TestForm.CONTENT_TYPE},
            {"415", "POST", "multipart/mixed; boundary=" + TestForm.BOUNDARY},
            {"415", "GET", "Multipart/form-datax; boundary=" + TestForm.BOUNDARY},
            {"202", "POST", "text/plain"},
        };
        for (boolean rejected : new boolean[] {true, false}) {
            SluiceFilter filter = SluiceFilter.builder(store.options().build())
                    .refuseOtherMultipart(rejected)
                    .serveDelete(!rejected)
                    .build();
            MultipartConfigElement config = new MultipartConfigElement(directory.toString());
            WebApp app = new WebApp(Files.createTempDirectory(directory, "container"));
            app.servlet("/app/*", servlet, config)
                    .servlet(
                            "/error",
                            new WorkServlet().at("/", (request, response) -> {
                                response.getWriter()
                                        .print(request.getParts().size()); // parts of this filter, not of the container
                            }),
                            config);
            app.errorPage("/error").filter("/*", filter, DispatcherType.values());
            try (RunningContainer container = kind.start(app)) {
                for (String[] other : others) {
                    try (RawHttp connection = container.connect()) {
                        RawHttp.Response answer = connection
                                .send(TestForm.request(other[1], "/app/passed", other[2], FORM.body()))
                                .response();
                        assertEquals(rejected ? other[0] : "202", "" + answer.status(), String.join(" ", other));
                        assertEquals(
                                answer.status() == 405 ? "POST, PUT, PATCH" : null,
                                answer.headers().get("allow"));
                        // In Jetty, requests with the methods DELETE and post get no error page.
                        boolean hasPage = answer.status() != 202 && "GET POST".contains(other[1]);
                        assertTrue(answer.body().equals("0") || !hasPage, answer::body);
                    }
                }
                assertEquals(
                        "202",
                        answer(
                                container,
                                head("GET", "/passed", 0) + "\r\nContent-Type: " + TestForm.CONTENT_TYPE,
                                new byte[0]),
                        "a form without a body");
                assertEquals(rejected ? 0 : 1, logged.size(), logged::toString);
            }
        }
    }
}

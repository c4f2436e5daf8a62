package dev.sluice.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.FormMetrics;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.servlet.MultipartRequestException;
import dev.sluice.servlet.MultipartRequests;
import dev.sluice.servlet.SluiceFilter;
import dev.sluice.testkit.Eventually;
import dev.sluice.testkit.RawHttp;
import dev.sluice.testkit.TestForm;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.MultipartConfigElement;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.Part;
import java.io.IOException;
import java.net.CookieManager;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.config.DestructionAwareBeanPostProcessor;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockMultipartFile;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.csrf.CsrfToken;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.request.MockMvcRequestBuilders;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.util.FileSystemUtils;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RequestPart;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.multipart.MaxUploadSizeExceededException;
import org.springframework.web.multipart.MultipartException;
import org.springframework.web.multipart.MultipartFile;
import org.springframework.web.multipart.MultipartResolver;
import org.springframework.web.multipart.support.StandardServletMultipartResolver;
import org.springframework.web.servlet.ModelAndView;

/** Tests servlet applications, most of which do not refer to Sluice, with the starter on their class path. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class StarterTest {
    private static final String BOUNDARY = "----starter";
    private static final String FORM = "multipart/form-data; boundary=" + BOUNDARY;

    @TempDir
    private Path directory;

    private final HttpClient client =
            HttpClient.newBuilder().cookieHandler(new CookieManager()).build();
    private RunningApplication application;
    private ConfigurableApplicationContext context;

    record Bound(String title, MultipartFile file) {}

    @RestController
    @EnableAutoConfiguration
    static class Uploads {
        @PostMapping("/upload")
        String upload(@RequestParam("title") String title, @RequestParam("file") MultipartFile file)
                throws IOException {
            return title + " " + file.getOriginalFilename() + " " + file.getSize() + " " + file.getBytes().length;
        }

        @PutMapping("/bound")
        String bound(@ModelAttribute Bound bound, @RequestPart("file") Part part, @RequestPart("file") byte[] bytes) {
            boolean virtual = Thread.currentThread().toString().startsWith("VirtualThread");
            return bound.title() + " " + bound.file().getSize() + " " + part.getSize() + " " + bytes.length + " "
                    + virtual;
        }

        @PostMapping("/file")
        String file(@RequestParam("file") MultipartFile file) {
            return "file " + file.getSize();
        }

        @PostMapping("/title")
        String title(@RequestParam("title") String title) {
            return title;
        }

        @PostMapping("/hold")
        String hold(HttpServletRequest request) throws Exception {
            request.getParts();
            MultipartRequests.hold(request);
            return "held";
        }

        @RequestMapping("/other")
        String other(HttpServletRequest request) {
            return request.getMethod() + " of " + request.getContentLength() + " bytes";
        }

        @DeleteMapping("/deleted")
        String deleted(@RequestParam("title") String title, @RequestParam("file") MultipartFile file) {
            return title + " " + file.getSize();
        }

        @PostMapping("/parameter")
        String parameter(HttpServletRequest request) {
            return request.getParameter("title");
        }

        @GetMapping("/token")
        String token(CsrfToken token) {
            return token.getToken();
        }
    }

    /** An application with exception handlers. */
    @RestControllerAdvice
    static class Handlers {
        @ExceptionHandler
        String tooLarge(MaxUploadSizeExceededException e) {
            return "more than " + e.getMaxUploadSize();
        }

        @ExceptionHandler
        String other(MultipartException e) {
            return "rejected: " + (e.getCause() instanceof MultipartRequestException);
        }
    }

    /** An application whose exception handlers answer with a view, or call {@code sendError}. */
    @ControllerAdvice
    static class Views {
        @ExceptionHandler
        @ResponseStatus(value = HttpStatus.CONFLICT, reason = "too large")
        void tooLarge(MaxUploadSizeExceededException e) {}

        @ExceptionHandler
        @ResponseStatus(HttpStatus.BAD_REQUEST)
        ModelAndView other(MultipartException e) {
            return new ModelAndView(
                    (model, request, response) -> response.getWriter().print("a view"));
        }
    }

    /** An application whose Spring Security reads the CSRF token from a form field. */
    @Configuration(proxyBeanMethods = false)
    static class Secured {
        @Bean
        SecurityFilterChain chain(HttpSecurity http) throws Exception {
            return http.authorizeHttpRequests(all -> all.anyRequest().permitAll())
                    .build();
        }
    }

    private void start(List<Class<?>> sources, String... properties) {
        List<String> all = new ArrayList<>(List.of(
                "--logging.level.root=ERROR",
                "--management.endpoints.web.exposure.include=metrics",
                "--spring.servlet.multipart.location=" + directory));
        if (!sources.contains(Secured.class)) {
            all.add(RunningApplication.NO_SECURITY);
        }
        all.addAll(List.of(properties));
        application = RunningApplication.start(sources, all.toArray(String[]::new));
        context = application.context();
    }

    @AfterEach
    void nothingIsLeft() throws IOException {
        if (context != null) {
            context.close();
        }
        try (Stream<Path> left = Files.list(directory)) {
            assertEquals(List.of(), left.toList());
        }
    }

    private static String form(String title, int bytes) {
        return field("title", title) + "--" + BOUNDARY
                + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f.txt\"\r\n\r\n" + "x".repeat(bytes)
                + "\r\n--" + BOUNDARY + "--\r\n";
    }

    private static String field(String name, String value) {
        return "--" + BOUNDARY + "\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n";
    }

    private HttpResponse<String> send(HttpRequest.Builder request, String path) throws Exception {
        URI uri = URI.create("http://127.0.0.1:" + application.port() + path);
        return client.send(request.uri(uri).build(), HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
    }

    private HttpResponse<String> send(String method, String path, String type, String body, String... headers)
            throws Exception {
        HttpRequest.Builder request = HttpRequest.newBuilder()
                .header("Content-Type", type)
                .method(method, HttpRequest.BodyPublishers.ofString(body, StandardCharsets.ISO_8859_1));
        for (int i = 0; i < headers.length; i += 2) {
            request.header(headers[i], headers[i + 1]);
        }
        return send(request, path);
    }

    private HttpResponse<String> post(String path, String body) throws Exception {
        return send("POST", path, FORM, body);
    }

    /** {@return a connection on which the head of a form of {@code length} bytes was sent} */
    private RawHttp begin(String path, int length) throws IOException {
        return application
                .connect()
                .send(TestForm.headOf(
                        "POST", path, "Connection: close", "Content-Type: " + FORM, "Content-Length: " + length));
    }

    private String get(String path) throws Exception {
        return send(HttpRequest.newBuilder(), path).body();
    }

    @Test
    void upload_isReadBySluiceAndCounted() throws Exception {
        start(List.of(Uploads.class));
        HttpResponse<String> response = post("/upload", form("one", 100_000));
        assertEquals("one f.txt 100000 100000", response.body());
        assertTrue(get("/actuator/metrics/sluice.forms").contains("\"statistic\":\"COUNT\",\"value\":1.0"));
        assertEquals(0, application.heldResources());
    }

    /** @param virtual whether to use virtual threads, which JDK 17 does not have */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void form_withHiddenMethod_isBoundToAllParameterTypes(boolean virtual) throws Exception {
        start(
                List.of(Uploads.class),
                "--spring.mvc.hiddenmethod.filter.enabled=true",
                "--spring.threads.virtual.enabled=" + virtual);
        String form = field("_method", "put") + form("one", 100_000);
        assertEquals(
                "one 100000 100000 100000 " + (virtual && Runtime.version().feature() >= 21),
                post("/bound", form).body());
    }

    @Test
    void limits_default_areThoseOfBoot() throws Exception {
        start(List.of(Uploads.class));
        assertEquals(200, post("/upload", form("most", 1 << 20)).statusCode());
        HttpResponse<String> response = post("/upload", form("more", (1 << 20) + 1));
        assertProblem(413, "\"limit\":\"maxPartBytes\"", response);
        assertProblem(413, "\"reason\":\"part_too_large\"", response);
    }

    @Test
    void limits_ofPath_applyToIt() throws Exception {
        start(
                List.of(Uploads.class),
                "--server.servlet.context-path=/app",
                "--sluice.paths[/upload].max-part-bytes=3MB",
                "--sluice.paths[/title].max-parts=1");
        assertEquals(
                "big f.txt 3145728 3145728",
                post("/app/upload", form("big", 3 << 20)).body());
        assertProblem(413, "\"limit\":\"maxPartBytes\"", post("/app/upload", form("big", (3 << 20) + 1)));
        assertProblem(413, "\"limit\":\"maxParts\"", post("/app/title", form("any", 5)));
    }

    @ParameterizedTest
    @CsvSource({"503, memory-budget-bytes=1KB, memoryBudgetBytes", "507, max-spool-bytes=1KB, maxSpoolBytes"})
    void exhaustedResources_areAnsweredWithAProblem(int status, String property, String limit) throws Exception {
        start(List.of(Uploads.class), "--sluice." + property);
        assertProblem(status, "\"limit\":\"" + limit + '"', post("/upload", form("one", 100_000)));
    }

    @Test
    void rejection_isAnsweredWithAProblem() throws Exception {
        start(List.of(Uploads.class), "--sluice.max-drain-bytes=0");
        String cut = form("cut", 100).substring(0, 200);
        assertProblem(400, "\"reason\":\"truncated\"", post("/upload", cut));
        HttpResponse<String> response = send("POST", "/upload", FORM, form("one", 10), "Content-Encoding", "gzip");
        assertProblem(415, "\"reason\":\"unsupported_media_type\"", response);
        // The connection cannot be used again, because the body is not read.
        assertEquals("close", response.headers().firstValue("Connection").orElse(""));
    }

    @Test
    void slowClient_isAnsweredWithAProblem() throws Exception {
        start(List.of(Uploads.class), "--sluice.min-rate-grace=100ms");
        try (RawHttp client = begin("/upload", 1000)) {
            client.send(field("title", "one"));
            for (int sent = 0; sent < 300 && client.in().available() == 0; sent++) {
                Thread.sleep(100);
                client.send("x"); // the rate is checked when bytes are read
            }
            client.sendEnd(); // Tomcat closes the connection after the body has ended or timed out
            RawHttp.Response response = client.response();
            assertEquals(408, response.status(), response::body);
            assertEquals("application/problem+json", response.headers().get("content-type"));
            assertTrue(response.body().contains("\"reason\":\"client_too_slow\""), response::body);
        }
    }

    @Test
    void exceptionHandlers_ofApplication_comeFirst() throws Exception {
        start(
                List.of(Uploads.class, Handlers.class),
                "--spring.servlet.multipart.max-file-size=1KB",
                "--sluice.max-body-bytes=64KB");
        assertEquals("rejected: false", postJson("/file", "*/*").body());
        assertEquals("more than 1024", post("/upload", form("a", 2000)).body());
        assertEquals(
                "rejected: true",
                post("/upload", "--" + BOUNDARY + "\r\nno header\r\n\r\n").body());
        context.close();
        start(
                List.of(Uploads.class, Handlers.class),
                "--spring.servlet.multipart.resolve-lazily=true",
                "--spring.servlet.multipart.max-file-size=1KB");
        assertEquals("more than 1024", post("/upload", form("a", 2000)).body());
    }

    /** Boot's filter sets UTF-8 as the charset of each request, which must not replace the configured charset. */
    @Test
    void headerCharset_isUsedForFileNames() throws Exception {
        start(List.of(Uploads.class), "--sluice.header-charset=ISO-8859-1");
        HttpResponse<String> response = post("/upload", form("one", 10).replace("f.txt", "\u00E9.txt"));
        assertEquals("one \u00E9.txt 10 10", response.body());
    }

    @Test
    void closedConnection_isNotLoggedAsAnError(CapturedOutput output) throws Exception {
        start(List.of(Uploads.class), "--spring.servlet.multipart.resolve-lazily=true");
        try (RawHttp client = begin("/parameter", 1000)) {
            assertEquals(
                    400, client.send(field("title", "one")).sendEnd().response().status());
        }
        assertFalse(output.getAll().contains("a form could not be received"), output::getAll);
    }

    /**
     * @param finished whether the client sends the rest of the body; otherwise the upload ends after the grace period
     *     of the shutdown
     */
    @ParameterizedTest
    @CsvSource({"true, false", "false, false", "false, true"})
    void shutdown_duringUpload_finishesOrEndsIt(boolean finished, boolean lazy, CapturedOutput output)
            throws Exception {
        start(
                List.of(Uploads.class),
                "--server.shutdown=graceful",
                "--spring.lifecycle.timeout-per-shutdown-phase=" + (finished ? "30s" : "100ms"),
                "--spring.servlet.multipart.resolve-lazily=" + lazy);
        SpoolDirectory spool = context.getBean(SpoolDirectory.class);
        MemoryBudget memory = context.getBean(MemoryBudget.class);
        AtomicBoolean closing = new AtomicBoolean();
        context.addApplicationListener(event -> closing.compareAndSet(false, event instanceof ContextClosedEvent));
        String body = form("one", 500_000);
        try (RawHttp client = begin("/upload", body.length())) {
            client.send(body.substring(0, 300_000));
            Eventually.isTrue(() -> spool.files() == 1, "the file is not stored");
            Thread stopping = new Thread(context::close);
            stopping.start();
            if (finished) {
                Eventually.isTrue(closing::get, "the application does not stop");
                RawHttp.Response answer = client.send(body.substring(300_000)).response();
                assertEquals("200 one f.txt 500000 500000", answer.status() + " " + answer.body());
            }
            stopping.join();
            try (Stream<Path> left = Files.list(directory)) {
                assertEquals(List.of(), left.toList(), "files after the application has stopped");
            }
        }
        Eventually.isTrue(() -> spool.files() == 0 && memory.used() == 0, "the form is not released");
        assertFalse(output.getAll().contains("ERROR"), output::getAll);
    }

    @Test
    void upload_whenDisabled_isReadByTheContainer() throws Exception {
        for (String property : List.of("sluice.enabled", "spring.servlet.multipart.enabled")) {
            start(List.of(Uploads.class), "--" + property + "=false");
            assertEquals(0, context.getBeansOfType(FormOptions.class).size());
            if (property.startsWith("sluice")) {
                assertEquals(
                        "one f.txt 100 100", post("/upload", form("one", 100)).body());
            }
            context.close();
        }
    }

    @Test
    @Timeout(240) // starts eight applications
    void otherMultipart_isRejectedUnlessAllowed() throws Exception {
        String[][] others = {
            {"415", "POST", "multipart/mixed", "", "\"reason\":\"unsupported_media_type\""},
            {
                "405",
                "DELETE",
                "multipart/form-data",
                "POST, PUT, PATCH",
                "\"detail\":\"forms are accepted with POST, PUT, PATCH\""
            }
        };
        MockHttpServletRequest mixed = new MockHttpServletRequest("POST", "/other");
        mixed.setContentType("multipart/mixed; boundary=b");
        // The second resolver does not read the body. The third one reads only multipart/form-data.
        for (String property :
                List.of("resolve-lazily=false", "resolve-lazily=true", "strict-servlet-compliance=true")) {
            boolean strict = property.startsWith("strict"); // tested with one kind of handlers
            for (Class<?> handlers :
                    strict ? List.of(Object.class) : List.of(Object.class, Handlers.class, Views.class)) {
                start(List.of(Uploads.class, handlers), "--spring.servlet.multipart." + property);
                assertEquals(!strict, context.getBean(MultipartResolver.class).isMultipart(mixed));
                for (String[] other : others) {
                    HttpResponse<String> response = other(other[1], other[2]);
                    assertEquals(
                            other[3], response.headers().firstValue("Allow").orElse(""));
                    if (handlers == Handlers.class) {
                        assertEquals("rejected: true", response.body());
                    } else if (handlers == Views.class) {
                        assertEquals("400 a view", response.statusCode() + " " + response.body());
                    } else {
                        assertProblem(Integer.parseInt(other[0]), other[4], response);
                    }
                }
                context.close();
            }
        }
        start(List.of(Uploads.class), "--sluice.refuse-other-multipart=false");
        for (String[] other : others) {
            assertEquals(other[1] + " of 2 bytes", other(other[1], other[2]).body());
        }
    }

    private static void assertProblem(int status, String part, HttpResponse<String> response) {
        assertEquals(status, response.statusCode());
        assertEquals(
                "application/problem+json",
                response.headers().firstValue("Content-Type").orElse(""));
        assertTrue(response.body().contains(part), response.body());
    }

    @Test
    void delete_isServedIfConfigured() throws Exception {
        start(List.of(Uploads.class), "--sluice.serve-delete=true");
        assertEquals(
                "one 100000",
                send("DELETE", "/deleted", FORM, form("one", 100_000)).body());
    }

    private HttpResponse<String> other(String method, String type) throws Exception {
        return send(method, "/other", type + "; boundary=" + BOUNDARY, "--");
    }

    @Test
    void csrfToken_inFormField_isAccepted() throws Exception {
        start(List.of(Uploads.class, Secured.class));
        String token = get("/token");
        assertEquals(
                "one f.txt 10 10",
                post("/upload", field("_csrf", token) + form("one", 10)).body());
        HttpResponse<String> without = post("/upload", form("one", 10));
        assertEquals(403, without.statusCode());
        assertTrue(without.body().contains("\"status\":403,\"error\":\"Forbidden\""), without.body());
    }

    @Test
    void limits_ofMultipartConfigElement_areUsed() throws Exception {
        start(List.of(Uploads.class, OwnLimits.class));
        assertEquals(200, post("/upload", form("more", 2 << 20)).statusCode());
        assertEquals(413, post("/upload", form("most", (3 << 20) + 1)).statusCode());
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnLimits {
        @Bean
        MultipartConfigElement limits() {
            return new MultipartConfigElement("", 3 << 20, -1, -1);
        }
    }

    /**
     * Spring Security reads the token before the DispatcherServlet is called. No controller may be called for a rejected
     * form.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void rejection_inFilter_reachesExceptionHandlers(boolean lazy) throws Exception {
        String[] properties = {
            "--spring.servlet.multipart.max-file-size=1KB", "--spring.servlet.multipart.resolve-lazily=" + lazy
        };
        String malformed = "--" + BOUNDARY + "\r\nno header\r\n\r\n";
        start(List.of(Uploads.class, Secured.class), properties);
        assertProblem(413, "\"limit\":\"maxPartBytes\"", post("/other", form("a", 2000)));
        assertProblem(415, "\"reason\":\"unsupported_media_type\"", other("POST", "multipart/mixed"));
        context.close();
        start(List.of(Uploads.class, Secured.class, Handlers.class), properties);
        assertEquals("more than 1024", post("/other", form("a", 2000)).body());
        assertEquals("rejected: true", post("/other", malformed).body());
        context.close();
        start(List.of(Uploads.class, Secured.class, Views.class), properties);
        assertEquals("a view", post("/other", malformed).body());
        HttpResponse<String> sent = post("/other", form("a", 2000));
        assertEquals(409, sent.statusCode());
        assertTrue(sent.body().contains("\"status\":409,\"error\":"), sent.body()); // Boot's error page
    }

    @Test
    void shutdown_closesFormsBeforeTheSpool() throws Exception {
        start(List.of(Uploads.class, HeldForm.class));
        assertEquals("held", post("/hold", form("one", 100_000)).body());
        assertTrue(context.getBean(SpoolDirectory.class).files() > 0);
        context.close();
        assertEquals(0, HeldForm.FILES_AT_CLOSE.get());
    }

    /** An application that counts the files in the spool when the spool is closed. */
    @Configuration(proxyBeanMethods = false)
    static class HeldForm {
        static final AtomicLong FILES_AT_CLOSE = new AtomicLong(-1);

        /** Replaces Spring's resolver, which would delete the files at the end of the request. */
        @Bean
        MultipartResolver inactiveResolver() {
            return new StandardServletMultipartResolver() {
                @Override
                public boolean isMultipart(HttpServletRequest request) {
                    return false;
                }
            };
        }

        @Bean
        static DestructionAwareBeanPostProcessor fileCounter() {
            return (bean, name) -> {
                if (bean instanceof SpoolDirectory spool) {
                    FILES_AT_CLOSE.set(spool.files());
                }
            };
        }
    }

    @Test
    void rejectedHeads_areCountedOnce() throws Exception {
        start(List.of(Uploads.class), "--sluice.max-body-bytes=1KiB");
        assertEquals(413, post("/upload", form("one", 2000)).statusCode());
        for (String type : List.of("multipart/form-data", "multipart/mixed; boundary=x")) {
            send("POST", "/upload", type, form("one", 10));
        }
        send("POST", "/upload", "application/json", "{}");
        String one = "\"statistic\":\"COUNT\",\"value\":1.0";
        for (String reason : List.of("body_too_large", "missing_boundary", "unsupported_media_type")) {
            String meter = get("/actuator/metrics/sluice.forms?tag=reason:" + reason);
            assertTrue(meter.contains(one), meter);
        }
        String all = get("/actuator/metrics/sluice.forms");
        assertTrue(all.contains("\"value\":3.0"), all);
    }

    private HttpResponse<String> postJson(String path, String accept) throws Exception {
        return send("POST", path, "application/json", "{}", "Accept", accept);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void json_forAControllerThatNeedsAFile_isAnsweredWith415(boolean problemDetails) throws Exception {
        start(List.of(Uploads.class), "--spring.mvc.problemdetails.enabled=" + problemDetails);
        HttpResponse<String> response = postJson("/file", "*/*");
        assertEquals(415, response.statusCode(), response::body);
        assertEquals(
                "multipart/form-data", response.headers().firstValue("Accept").orElse(""));
        assertTrue(response.body().contains("\"reason\":\"unsupported_media_type\""), response::body);
        HttpResponse<String> page = postJson("/file", "text/html");
        assertEquals(415, page.statusCode(), page::body);
        assertTrue(page.headers().firstValue("Content-Type").orElse("").startsWith("text/html"), page::body);
        assertEquals(413, post("/file", form("one", 2 << 20)).statusCode());
        assertEquals(
                400,
                post("/file", form("one", 10).replace("\"file\"", "\"other\"")).statusCode());
    }

    @Configuration(proxyBeanMethods = false)
    static class Counted {
        static final AtomicLong FORMS = new AtomicLong();

        @Bean
        FormMetrics counting() {
            return summary -> FORMS.incrementAndGet();
        }
    }

    @Test
    void diskFailure_isLogged(CapturedOutput output) throws Exception {
        Path location = directory.resolve("location");
        start(List.of(Uploads.class), "--spring.servlet.multipart.location=" + location);
        FileSystemUtils.deleteRecursively(location);
        Files.createFile(location);
        HttpResponse<String> response = post("/upload", form("one", 100_000));
        Files.delete(location);
        assertProblem(500, "\"detail\":\"the form could not be stored\"", response);
        assertTrue(output.getAll().contains(location.toString()), output::getAll);
    }

    /** In HTTP/2 a {@code Connection} header is a protocol error, and the client would reject the response. */
    @Test
    void rejection_overHttp2_hasNoConnectionHeader() throws Exception {
        start(
                List.of(Uploads.class),
                "--server.http2.enabled=true",
                "--sluice.max-body-bytes=10KiB",
                "--sluice.max-drain-bytes=0");
        get("/"); // upgrades the connection to HTTP/2
        HttpResponse<String> response = post("/upload", form("more", 20 << 10));
        assertEquals(HttpClient.Version.HTTP_2, response.version());
        assertEquals(413, response.statusCode());
        assertTrue(response.headers().firstValue("Connection").isEmpty(), response.headers()::toString);
    }

    /** Over HTTP/2, a request without a body has no {@code Content-Length}. */
    @Test
    void getOverHttp2_withContentTypeOfAForm_isPassed() throws Exception {
        start(List.of(Uploads.class), "--server.http2.enabled=true");
        get("/"); // upgrades the connection to HTTP/2
        HttpResponse<String> response =
                send(HttpRequest.newBuilder().header("Content-Type", FORM), "/actuator/metrics");
        assertEquals(HttpClient.Version.HTTP_2, response.version());
        assertEquals(200, response.statusCode(), response::body);
        assertEquals(405, send("GET", "/actuator/metrics", FORM, "--").statusCode());
    }

    @Test
    void findRejection_withCircularCauses_ends() {
        Exception one = new Exception();
        Exception other = new Exception(one);
        one.initCause(other);
        assertTimeoutPreemptively(Duration.ofMinutes(2), () -> assertNull(MultipartRequestException.in(other, null)));
    }

    @Test
    void location_unusable_isReportedAtStartup() throws Exception {
        Path file = Files.createFile(directory.resolve("file"));
        Exception failure = assertThrows(
                Exception.class, () -> start(List.of(Uploads.class), "--spring.servlet.multipart.location=" + file));
        Files.delete(file);
        String all = Stream.iterate((Throwable) failure, Objects::nonNull, Throwable::getCause)
                .map(Throwable::toString)
                .collect(Collectors.joining());
        String expected = "(check spring.servlet.multipart.location or sluice.directory): the spool directory " + file
                + " cannot be created: not a directory";
        assertTrue(all.contains(expected), all);
    }

    @Test
    void sluiceFilterBean_ofApplication_replacesTheFilter() throws Exception {
        start(List.of(Uploads.class, NoFilter.class));
        assertEquals("one f.txt 10 10", post("/upload", form("one", 10)).body());
        assertEquals(0, context.getBean(SpoolDirectory.class).writtenBytes());
    }

    @Configuration(proxyBeanMethods = false)
    static class NoFilter {
        @Bean
        FilterRegistrationBean<Filter> sluiceFilter() {
            FilterRegistrationBean<Filter> none = new FilterRegistrationBean<>((request, response, chain) -> {});
            none.setEnabled(false);
            return none;
        }
    }

    @Test
    void filterBean_withoutRegistration_logsAWarning(CapturedOutput output) {
        start(List.of(Uploads.class, BareFilter.class));
        assertTrue(
                output.getOut().contains("the bean bare is a SluiceFilter that Spring Boot maps after all"),
                output::getOut);
        assertFalse(output.getOut().contains("FilterRegistrationBean good"), output::getOut);
    }

    @Configuration(proxyBeanMethods = false)
    static class BareFilter {
        @Bean
        SluiceFilter bare(FormOptions options) {
            return SluiceFilter.of(options);
        }

        @Bean
        FilterRegistrationBean<SluiceFilter> good(FormOptions options) {
            FilterRegistrationBean<SluiceFilter> good = new FilterRegistrationBean<>(SluiceFilter.of(options));
            good.setOrder(SluiceAutoConfiguration.ORDER);
            good.setDispatcherTypes(EnumSet.allOf(DispatcherType.class));
            return good;
        }
    }

    @Test
    void registration_withWrongOrderAndTypes_logsAWarning(CapturedOutput output) {
        start(List.of(Uploads.class, WrongRegistration.class));
        assertTrue(output.getOut().contains("sluiceFilter maps a SluiceFilter after Spring Security"), output::getOut);
        assertTrue(output.getOut().contains("sluiceFilter maps a SluiceFilter only to [REQUEST]"), output::getOut);
        assertFalse(output.getOut().contains("the bean own"), output::getOut);
    }

    @Configuration(proxyBeanMethods = false)
    static class WrongRegistration {
        @Bean
        SluiceFilter own(FormOptions options) {
            return SluiceFilter.of(options);
        }

        @Bean
        FilterRegistrationBean<SluiceFilter> sluiceFilter(SluiceFilter own) {
            return new FilterRegistrationBean<>(own);
        }
    }

    @Test
    void mockMvcRequest_passesTheFilter() throws Exception {
        start(List.of(Uploads.class));
        MockMvc mvc = MockMvcBuilders.webAppContextSetup((WebApplicationContext) context)
                .addFilters(context.getBean("sluiceFilter", FilterRegistrationBean.class)
                        .getFilter())
                .build();
        String response = mvc.perform(MockMvcRequestBuilders.multipart("/upload")
                        .file(new MockMultipartFile("file", "m.txt", "text/plain", new byte[5]))
                        .param("title", "mock"))
                .andReturn()
                .getResponse()
                .getContentAsString();
        assertEquals("mock m.txt 5 5", response);
        String withoutBoundary = mvc.perform(MockMvcRequestBuilders.post("/title")
                        .contentType(MediaType.MULTIPART_FORM_DATA)
                        .param("title", "no boundary"))
                .andReturn()
                .getResponse()
                .getContentAsString();
        assertEquals("no boundary", withoutBoundary);
    }

    @Test
    void beansOfApplication_overridePropertiesAndReplaceMeters() throws Exception {
        start(List.of(Uploads.class, Customized.class, Counted.class), "--sluice.max-parts=5");
        assertProblem(413, "\"limit\":\"maxParts\"", post("/upload", form("one", 10)));
        assertEquals(1, Counted.FORMS.get());
    }

    @Configuration(proxyBeanMethods = false)
    static class Customized {
        @Bean
        FormOptionsCustomizer onePart() {
            return options -> options.maxParts(1);
        }
    }
}

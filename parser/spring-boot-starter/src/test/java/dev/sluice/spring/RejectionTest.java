package dev.sluice.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartReader;
import dev.sluice.servlet.MultipartRequests;
import dev.sluice.testkit.RawHttp;
import dev.sluice.testkit.TestForm;
import jakarta.servlet.Filter;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletRegistration;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.ServletContextInitializer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.http.SessionCreationPolicy;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.cors.CorsConfiguration;
import org.springframework.web.cors.UrlBasedCorsConfigurationSource;
import org.springframework.web.multipart.MultipartException;
import org.springframework.web.multipart.MultipartFile;

/** Tests rejected forms in an application that uses Spring Security and allows another origin (CORS). */
@Timeout(60)
class RejectionTest {
    private static final String ORIGIN = "http://page.example";
    private static final String MIXED = "multipart/mixed; boundary=B";
    private static final String LARGE = RunningApplication.form(1_300_000);
    private static final String SMALL = RunningApplication.form(3);
    private static final String BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8";
    private static final String HIDDEN_METHOD = "--spring.mvc.hiddenmethod.filter.enabled=true";
    private static final String NO_HIDDEN_METHOD = "--spring.mvc.hiddenmethod.filter.enabled=false";
    private static final String LAZY_RESOLVER = "--spring.servlet.multipart.resolve-lazily=true";
    private static final String EAGER_RESOLVER = "--spring.servlet.multipart.resolve-lazily=false";

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Controller.class)
    static class Application {
        @Bean
        SecurityFilterChain chain(HttpSecurity http) throws Exception {
            return http.cors(Customizer.withDefaults())
                    .csrf(csrf -> csrf.disable())
                    .httpBasic(Customizer.withDefaults())
                    .sessionManagement(sessions -> sessions.sessionCreationPolicy(SessionCreationPolicy.STATELESS))
                    .authorizeHttpRequests(all -> all.requestMatchers("/open/**", "/error")
                            .permitAll()
                            .anyRequest()
                            .authenticated())
                    .build();
        }

        @Bean
        UrlBasedCorsConfigurationSource corsConfigurationSource() {
            CorsConfiguration allowed = new CorsConfiguration();
            allowed.addAllowedOrigin(ORIGIN);
            allowed.addAllowedMethod("*");
            UrlBasedCorsConfigurationSource all = new UrlBasedCorsConfigurationSource();
            all.registerCorsConfiguration("/**", allowed);
            return all;
        }

        @Bean
        ServletContextInitializer servlets() {
            return context -> {
                add(context, "/open/raw", (request, response) -> {
                    int length = request.getInputStream().readAllBytes().length;
                    response.getWriter().print("raw " + length);
                });
                add(context, "/open/reader", (request, response) -> {
                    long lines = request.getReader().lines().count();
                    response.getWriter().print("lines " + lines);
                });
                add(context, "/open/parameter", (request, response) -> request.getParameter("q"));
                add(context, "/open/form", (request, response) -> MultipartRequests.form(request));
                add(context, "/open/typed", (request, response) -> {
                    response.setContentType("text/csv;charset=ISO-8859-1");
                    MultipartRequests.form(request);
                });
                add(
                        context,
                        "/open/changed-form",
                        (request, response) -> MultipartRequests.form(request, options -> options));
                add(context, "/open/receiving", (request, response) -> MultipartRequests.receive(request));
                add(context, "/open/parts", (request, response) -> MultipartRequests.reader(request));
                add(context, "/open/refusing", (request, response) -> { // does not read the end of the body
                    try (MultipartReader reader = MultipartRequests.reader(request)) {
                        reader.nextPart();
                        throw dev.sluice.MultipartException.because(dev.sluice.MultipartException.Reason.PART_REFUSED)
                                .httpStatus(422)
                                .build();
                    }
                });
            };
        }

        private static void add(ServletContext context, String path, Service service) {
            ServletRegistration.Dynamic servlet = context.addServlet(path, new HttpServlet() {
                @Override
                protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException {
                    service.serve(request, response);
                }
            });
            servlet.addMapping(path);
            servlet.setAsyncSupported(true);
        }

        /** A filter after Spring Security that forwards some requests. */
        @Bean
        FilterRegistrationBean<Filter> forwardingFilter() {
            FilterRegistrationBean<Filter> registration = new FilterRegistrationBean<>((request, response, chain) -> {
                if (request instanceof HttpServletRequest http
                        && http.getRequestURI().equals("/open/forwarded")) {
                    request.getRequestDispatcher("/open/stream").forward(request, response);
                } else {
                    chain.doFilter(request, response);
                }
            });
            registration.setOrder(0);
            return registration;
        }
    }

    interface Service {
        void serve(HttpServletRequest request, HttpServletResponse response) throws IOException;
    }

    @RestController
    static class Controller {
        @RequestMapping({"/open/other", "/closed/other"})
        String other() {
            return "called";
        }

        @PostMapping("/open/stream")
        String stream(InputStream body) throws IOException {
            return "stream " + body.readAllBytes().length;
        }

        @PostMapping("/open/required")
        String required(HttpServletRequest request) throws IOException {
            return MultipartRequests.form(request).requireText("missing");
        }

        @PostMapping("/open/file")
        String file(@RequestParam MultipartFile file) {
            return file.getOriginalFilename();
        }

        @ModelAttribute
        void setContentType(HttpServletRequest request, HttpServletResponse response) {
            if (request.getRequestURI().equals("/open/typed-file")) {
                response.setContentType("text/csv");
            }
        }

        @PostMapping("/open/typed-file")
        String typedFile(@RequestParam MultipartFile file) {
            return file.getOriginalFilename();
        }

        @PostMapping("/open/begun")
        void begun(HttpServletRequest request, HttpServletResponse response) throws Exception {
            response.getOutputStream().print("begun");
            response.flushBuffer();
            request.getParts();
        }

        @RequestMapping("/open/page")
        String page() {
            return "the page";
        }

        @PutMapping("/open/put")
        String put() {
            return "put";
        }
    }

    private RunningApplication application;

    /** Uses an application that the tests with the same properties share. None of them changes it. */
    private void start(String... properties) {
        start(List.of(Application.class), properties);
    }

    private void start(List<Class<?>> sources, String... properties) {
        application = RunningApplication.shared(sources, properties);
    }

    @AfterAll
    static void stop() {
        RunningApplication.stopShared();
    }

    private HttpResponse<String> send(String method, String path, String type, String body) throws Exception {
        return application.send(application.request(method, path, type, body).header("Origin", ORIGIN));
    }

    private HttpResponse<String> post(String path, String body) throws Exception {
        return send("POST", path, RunningApplication.FORM, body);
    }

    private static void assertRejected(int status, HttpResponse<String> response) {
        assertEquals(status, response.statusCode(), response::body);
        String type = response.headers().firstValue("Content-Type").orElse("");
        assertEquals("application/problem+json", type.replace(";charset=UTF-8", ""));
        assertEquals(
                ORIGIN,
                response.headers().firstValue("Access-Control-Allow-Origin").orElse("no header"));
        assertEquals(
                "nosniff",
                response.headers().firstValue("X-Content-Type-Options").orElse("no header"));
    }

    /** @param hiddenMethod whether a filter before Spring Security reads a parameter */
    @ParameterizedTest
    @CsvSource({"false, false", "false, true", "true, false", "true, true"})
    void rejection_hasHeadersOfCorsAndSecurity(boolean hiddenMethod, boolean lazy) throws Exception {
        start(hiddenMethod ? HIDDEN_METHOD : NO_HIDDEN_METHOD, lazy ? LAZY_RESOLVER : EAGER_RESOLVER);
        HttpResponse<String> method = send("DELETE", "/open/other", RunningApplication.FORM, "--");
        assertRejected(405, method);
        assertEquals("POST, PUT, PATCH", method.headers().firstValue("Allow").orElse(""));
        assertRejected(415, send("POST", "/open/other", MIXED, "--"));
        if (hiddenMethod || !lazy) { // otherwise nothing reads the form
            assertRejected(413, post("/open/other", LARGE));
            assertRejected(400, post("/open/other", "not a form"));
        }
        assertEquals(401, post("/closed/other", LARGE).statusCode());
        assertEquals(401, post("/closed/other", "not a form").statusCode());
        assertEquals(401, send("POST", "/closed/other", MIXED, "--").statusCode());
    }

    @Test
    void rejection_whenParsedEagerly_reachesTheClient() throws Exception {
        start("--sluice.parse=eager");
        assertRejected(413, post("/open/other", LARGE));
        assertEquals(401, post("/closed/other", LARGE).statusCode());
        assertReadersGetTheRejection();
        for (String path : List.of("form", "changed-form", "receiving", "parts")) {
            assertRejected(415, send("POST", "/open/" + path, MIXED, "--B--"));
            assertRejected(400, post("/open/" + path, "not a form"));
        }
    }

    @Test
    void servlet_readingBodyOfRejectedForm_getsTheRejection() throws Exception {
        start(HIDDEN_METHOD, EAGER_RESOLVER);
        assertReadersGetTheRejection();
    }

    private void assertReadersGetTheRejection() throws Exception {
        for (String path : List.of("/open/raw", "/open/reader", "/open/parameter")) {
            assertRejected(413, post(path, LARGE));
            assertRejected(400, post(path, "not a form"));
        }
    }

    @Test
    void requiredField_missing_isRejected_andServletsCanReadOtherMultipartTypes() throws Exception {
        start(NO_HIDDEN_METHOD, EAGER_RESOLVER);
        assertEquals("raw 5", send("POST", "/open/raw", MIXED, "--B--").body());
        HttpResponse<String> response = post("/open/required", SMALL);
        assertRejected(400, response);
        assertTrue(response.body().contains("\"reason\":\"missing_field\""), response.body());
        HttpResponse<String> page = application.send(application
                .request("POST", "/open/required", RunningApplication.FORM, SMALL)
                .header("Accept", BROWSER));
        assertEquals(400, page.statusCode());
        assertTrue(page.body().contains("Whitelabel Error Page"), page.body());
    }

    /** Spring rejects some parameters that Sluice ignores, and some file names that are only text for Sluice. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "filename=f; unknown",
                "filename=f; filename*=UTF-8''%zz",
                "filename=\"=?unknown?Q?f?=\"",
                "filename=\"=?UTF-8?Q?=zz?=\""
            })
    void contentDisposition_thatSpringCannotParse_isABadRequest(String parameters) throws Exception {
        String body = "--B\r\nContent-Disposition: form-data; name=file; " + parameters + "\r\n\r\nx\r\n--B--\r\n";
        for (String resolver : List.of(EAGER_RESOLVER, LAZY_RESOLVER)) {
            start(NO_HIDDEN_METHOD, resolver);
            HttpResponse<String> response = post("/open/file", body);
            assertRejected(400, response);
            assertTrue(response.body().contains("\"reason\":\"malformed_content_disposition\""), response.body());
            assertEquals(0, application.heldResources());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class FailingDecider {
        @Bean
        FormOptionsCustomizer failingDecider() {
            return options -> options.decider(part -> {
                throw new IllegalArgumentException("a mistake of the application");
            });
        }
    }

    @Test
    void failureOfTheApplication_isNotABadRequest() throws Exception {
        start(List.of(Application.class, FailingDecider.class));
        assertEquals(500, post("/open/file", SMALL).statusCode());
    }

    @Test
    void rejection_replacesContentTypeOfTheApplication() throws Exception {
        start(NO_HIDDEN_METHOD, EAGER_RESOLVER);
        assertRejected(413, post("/open/typed", LARGE));
        assertRejected(415, send("POST", "/open/typed-file", "application/json", "{}"));
    }

    @Test
    void rejection_ofAReader_closesConnection() throws Exception {
        start(NO_HIDDEN_METHOD, EAGER_RESOLVER);
        HttpResponse<String> response = post("/open/refusing", SMALL);
        assertRejected(422, response);
        assertEquals("close", response.headers().firstValue("Connection").orElse("no header"));
    }

    /** A response that ended normally would seem complete to the client. */
    @Test
    void rejection_afterCommit_cutsResponseOff() {
        start(NO_HIDDEN_METHOD, LAZY_RESOLVER);
        assertThrows(IOException.class, () -> post("/open/begun", "not a form"));
    }

    @ParameterizedTest
    @ValueSource(strings = {NO_HIDDEN_METHOD, HIDDEN_METHOD})
    void controller_afterForward_isNotCalledForRejectedBody(String hiddenMethod) throws Exception {
        start(hiddenMethod, LAZY_RESOLVER);
        assertRejected(415, send("POST", "/open/forwarded", MIXED, "--B--"));
        if (hiddenMethod.equals(
                HIDDEN_METHOD)) { // otherwise nothing parses the form before the controller reads its bytes
            assertRejected(413, post("/open/forwarded", LARGE));
        }
    }

    @ControllerAdvice
    static class ForwardingHandler {
        @ExceptionHandler(MultipartException.class)
        String rejected() {
            return "forward:/open/page";
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ReaderAfterSecurity {
        final AtomicInteger servletCalls = new AtomicInteger();

        @Bean
        ServletContextInitializer countingServlet() {
            return context ->
                    Application.add(context, "/open/counting", (request, response) -> servletCalls.incrementAndGet());
        }

        @Bean
        FilterRegistrationBean<Filter> readingFilter() {
            return new FilterRegistrationBean<>((request, response, chain) -> {
                request.getParameter("q");
                chain.doFilter(request, response);
            });
        }
    }

    @Test
    void rejection_inAFilter_canBeForwardedToAPage_andServletIsNotCalled() throws Exception {
        start(List.of(Application.class, ForwardingHandler.class, ReaderAfterSecurity.class));
        assertEquals("the page", post("/open/other", "not a form").body());
        post("/open/counting", "not a form");
        assertEquals(
                0,
                application
                        .context()
                        .getBean(ReaderAfterSecurity.class)
                        .servletCalls
                        .get());
    }

    @Test
    void exceptionHandler_canForwardToAnotherController() throws Exception {
        start(List.of(Application.class, ForwardingHandler.class));
        assertEquals("the page", send("POST", "/open/other", MIXED, "--B--").body());
    }

    @Test
    void rejectedForm_filterBeforeSecurity_readsOnlyQueryParameters() throws Exception {
        start(List.of(Application.class, ParameterReader.class), "--spring.security.filter.order=-50");
        try (RawHttp client = application.connect()) { // HttpClient rejects the malformed query
            RawHttp.Response response = client.send(TestForm.request(
                            "POST", "/open/other?a=1%202&b&a=%zz&c=x+y", RunningApplication.FORM, new byte[] {'-', '-'
                            }))
                    .response();
            assertEquals(400, response.status(), response::body);
            assertEquals(
                    "1 2 [1 2, %zz] null null [a, b, c] [x y]",
                    response.headers().get("parameters"));
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ParameterReader {
        @Bean
        FilterRegistrationBean<Filter> readingFilter() {
            FilterRegistrationBean<Filter> registration = new FilterRegistrationBean<>((request, response, chain) -> {
                if (request instanceof HttpServletRequest http && response instanceof HttpServletResponse answer) {
                    List<Object> values = new ArrayList<>();
                    values.add(http.getParameter("a"));
                    values.add(Arrays.toString(http.getParameterValues("a")));
                    values.add(http.getParameter("d"));
                    values.add(Arrays.toString(http.getParameterValues("d")));
                    values.add(Collections.list(http.getParameterNames()));
                    values.add(Arrays.toString(http.getParameterMap().get("c")));
                    answer.setHeader(
                            "Parameters",
                            String.join(
                                    " ", values.stream().map(String::valueOf).toList()));
                }
                chain.doFilter(request, response);
            });
            registration.setOrder(-55);
            return registration;
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                BROWSER + " | text/html;charset=UTF-8",
                "text/html | text/html;charset=UTF-8",
                "application/json;q=0.5, text/html;q=0.7 | text/html;charset=UTF-8",
                "*/* | application/problem+json",
                "application/json, text/html;q=0.9 | application/problem+json",
                "application/problem+json, text/html;q=0.9 | application/problem+json",
                "image/png | application/problem+json",
                "not a type |",
            })
    void rejection_accept_selectsPageOrProblem(String accept, @Nullable String expected) throws Exception {
        start(NO_HIDDEN_METHOD, EAGER_RESOLVER);
        for (String[] rejected : new String[][] {{"413", RunningApplication.FORM, LARGE}, {"415", MIXED, "--"}}) {
            HttpResponse<String> response = application.send(application
                    .request("POST", "/open/other", rejected[1], rejected[2])
                    .header("Accept", accept));
            assertEquals(rejected[0], String.valueOf(response.statusCode()));
            if (expected != null) {
                String type = response.headers().firstValue("Content-Type").orElse("");
                assertEquals(expected, type);
                assertEquals(type.startsWith("text/html"), response.body().contains("Whitelabel Error Page"));
            }
        }
    }
}

package dev.sluice.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartReader;
import dev.sluice.servlet.MultipartRequests;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
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

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
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
        Controller controller() {
            return new Controller();
        }

        @Bean
        ServletRegistrationBean<HttpServlet> rawServlet() {
            return servlet("/open/raw", (request, response) -> {
                int length = request.getInputStream().readAllBytes().length;
                response.getWriter().print("raw " + length);
            });
        }

        @Bean
        ServletRegistrationBean<HttpServlet> readerServlet() {
            return servlet("/open/reader", (request, response) -> {
                long lines = request.getReader().lines().count();
                response.getWriter().print("lines " + lines);
            });
        }

        @Bean
        ServletRegistrationBean<HttpServlet> parameterServlet() {
            return servlet("/open/parameter", (request, response) -> request.getParameter("q"));
        }

        @Bean
        ServletRegistrationBean<HttpServlet> formServlet() {
            return servlet("/open/form", (request, response) -> MultipartRequests.form(request));
        }

        /** A servlet that sets the Content-Type of its response before it reads the form. */
        @Bean
        ServletRegistrationBean<HttpServlet> typedServlet() {
            return servlet("/open/typed", (request, response) -> {
                response.setContentType("text/csv;charset=ISO-8859-1");
                MultipartRequests.form(request);
            });
        }

        @Bean
        ServletRegistrationBean<HttpServlet> changedFormServlet() {
            return servlet(
                    "/open/changed-form", (request, response) -> MultipartRequests.form(request, options -> options));
        }

        @Bean
        ServletRegistrationBean<HttpServlet> receivingServlet() {
            return servlet("/open/receiving", (request, response) -> MultipartRequests.receive(request));
        }

        @Bean
        ServletRegistrationBean<HttpServlet> partServlet() {
            return servlet("/open/parts", (request, response) -> MultipartRequests.reader(request));
        }

        /** A servlet that rejects the first part, so that the end of the body is not read. */
        @Bean
        ServletRegistrationBean<HttpServlet> refusingServlet() {
            return servlet("/open/refusing", (request, response) -> {
                try (MultipartReader reader = MultipartRequests.reader(request)) {
                    reader.nextPart();
                    throw dev.sluice.MultipartException.because(dev.sluice.MultipartException.Reason.PART_REFUSED)
                            .httpStatus(422)
                            .build();
                }
            });
        }

        private static ServletRegistrationBean<HttpServlet> servlet(String path, Service service) {
            ServletRegistrationBean<HttpServlet> registration = new ServletRegistrationBean<>(
                    new HttpServlet() {
                        @Override
                        protected void service(HttpServletRequest request, HttpServletResponse response)
                                throws IOException {
                            service.serve(request, response);
                        }
                    },
                    path);
            registration.setName(path);
            registration.setAsyncSupported(true);
            return registration;
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

    private static HttpResponse<String> fromOrigin(
            RunningApplication to, String method, String path, String type, String body) throws Exception {
        return to.send(to.request(method, path, type, body).header("Origin", ORIGIN));
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
        try (RunningApplication application = RunningApplication.start(
                List.of(Application.class),
                "--spring.mvc.hiddenmethod.filter.enabled=" + hiddenMethod,
                "--spring.servlet.multipart.resolve-lazily=" + lazy)) {
            HttpResponse<String> method =
                    fromOrigin(application, "DELETE", "/open/other", RunningApplication.FORM, "--");
            assertRejected(405, method);
            assertEquals(
                    "POST, PUT, PATCH", method.headers().firstValue("Allow").orElse(""));
            assertRejected(415, fromOrigin(application, "POST", "/open/other", MIXED, "--"));
            if (hiddenMethod || !lazy) { // otherwise nothing reads the form
                assertRejected(413, fromOrigin(application, "POST", "/open/other", RunningApplication.FORM, LARGE));
                assertRejected(
                        400, fromOrigin(application, "POST", "/open/other", RunningApplication.FORM, "not a form"));
            }
            for (String[] anonymous : new String[][] {
                {RunningApplication.FORM, LARGE}, {RunningApplication.FORM, "not a form"}, {MIXED, "--"}
            }) {
                HttpResponse<String> response =
                        fromOrigin(application, "POST", "/closed/other", anonymous[0], anonymous[1]);
                assertEquals(401, response.statusCode(), anonymous[0]);
            }
        }
    }

    @Test
    void rejection_whenParsedEagerly_reachesTheClient() throws Exception {
        try (RunningApplication application =
                RunningApplication.start(List.of(Application.class), "--sluice.parse=eager")) {
            assertRejected(413, fromOrigin(application, "POST", "/open/other", RunningApplication.FORM, LARGE));
            assertEquals(
                    401,
                    application
                            .send("POST", "/closed/other", RunningApplication.FORM, LARGE)
                            .statusCode());
            assertReadersGetTheRejection(application);
            for (String path : List.of("form", "changed-form", "receiving", "parts")) {
                assertRejected(415, fromOrigin(application, "POST", "/open/" + path, MIXED, "--B--"));
                assertRejected(
                        400, fromOrigin(application, "POST", "/open/" + path, RunningApplication.FORM, "not a form"));
            }
        }
    }

    @Test
    void servlet_readingBodyOfRejectedForm_getsTheRejection() throws Exception {
        try (RunningApplication application =
                RunningApplication.start(List.of(Application.class), "--spring.mvc.hiddenmethod.filter.enabled=true")) {
            assertReadersGetTheRejection(application);
        }
    }

    private static void assertReadersGetTheRejection(RunningApplication application) throws Exception {
        for (String path : List.of("/open/raw", "/open/reader", "/open/parameter")) {
            assertRejected(413, fromOrigin(application, "POST", path, RunningApplication.FORM, LARGE));
            assertRejected(400, fromOrigin(application, "POST", path, RunningApplication.FORM, "not a form"));
        }
    }

    @Test
    void requiredField_missing_isRejected_andServletsCanReadOtherMultipartTypes() throws Exception {
        try (RunningApplication application = RunningApplication.start(List.of(Application.class))) {
            assertEquals(
                    "raw 5",
                    application.send("POST", "/open/raw", MIXED, "--B--").body());
            HttpResponse<String> response =
                    fromOrigin(application, "POST", "/open/required", RunningApplication.FORM, SMALL);
            assertRejected(400, response);
            assertTrue(response.body().contains("\"reason\":\"missing_field\""), response.body());
            HttpResponse<String> page = application.send(application
                    .request("POST", "/open/required", RunningApplication.FORM, SMALL)
                    .header("Accept", BROWSER));
            assertEquals(400, page.statusCode());
            assertTrue(page.body().contains("Whitelabel Error Page"), page.body());
        }
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
        for (boolean lazy : new boolean[] {false, true}) {
            try (RunningApplication application = RunningApplication.start(
                    List.of(Application.class), "--spring.servlet.multipart.resolve-lazily=" + lazy)) {
                HttpResponse<String> response =
                        fromOrigin(application, "POST", "/open/file", RunningApplication.FORM, body);
                assertRejected(400, response);
                assertTrue(response.body().contains("\"reason\":\"malformed_content_disposition\""), response.body());
                assertEquals(0, application.heldResources());
            }
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
        try (RunningApplication application =
                RunningApplication.start(List.of(Application.class, FailingDecider.class))) {
            assertEquals(
                    500,
                    application
                            .send("POST", "/open/file", RunningApplication.FORM, SMALL)
                            .statusCode());
        }
    }

    @Test
    void rejection_replacesContentTypeOfTheApplication() throws Exception {
        try (RunningApplication application = RunningApplication.start(List.of(Application.class))) {
            assertRejected(413, fromOrigin(application, "POST", "/open/typed", RunningApplication.FORM, LARGE));
            assertRejected(415, fromOrigin(application, "POST", "/open/typed-file", "application/json", "{}"));
        }
    }

    @Test
    void rejection_ofAReader_closesConnection() throws Exception {
        try (RunningApplication application = RunningApplication.start(List.of(Application.class))) {
            HttpResponse<String> response =
                    fromOrigin(application, "POST", "/open/refusing", RunningApplication.FORM, SMALL);
            assertRejected(422, response);
            assertEquals("close", response.headers().firstValue("Connection").orElse("no header"));
        }
    }

    /** A response that ended normally would seem complete to the client. */
    @Test
    void rejection_afterCommit_cutsResponseOff() throws Exception {
        try (RunningApplication application = RunningApplication.start(
                List.of(Application.class), "--spring.servlet.multipart.resolve-lazily=true")) {
            assertThrows(
                    IOException.class,
                    () -> application.send("POST", "/open/begun", RunningApplication.FORM, "not a form"));
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void controller_afterForward_isNotCalledForRejectedBody(boolean hiddenMethod) throws Exception {
        try (RunningApplication application = RunningApplication.start(
                List.of(Application.class),
                "--spring.mvc.hiddenmethod.filter.enabled=" + hiddenMethod,
                "--spring.servlet.multipart.resolve-lazily=true")) {
            assertRejected(415, fromOrigin(application, "POST", "/open/forwarded", MIXED, "--B--"));
            if (hiddenMethod) { // otherwise nothing parses the form before the controller reads its bytes
                assertRejected(413, fromOrigin(application, "POST", "/open/forwarded", RunningApplication.FORM, LARGE));
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ForwardingHandler {
        @ControllerAdvice
        static class Advice {
            @ExceptionHandler(MultipartException.class)
            String rejected() {
                return "forward:/open/page";
            }
        }

        @Bean
        Advice advice() {
            return new Advice();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ReaderAfterSecurity {
        final AtomicInteger servletCalls = new AtomicInteger();

        @Bean
        ServletRegistrationBean<HttpServlet> countingServlet() {
            return Application.servlet("/open/counting", (request, response) -> servletCalls.incrementAndGet());
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
        try (RunningApplication application = RunningApplication.start(
                List.of(Application.class, ForwardingHandler.class, ReaderAfterSecurity.class))) {
            assertEquals(
                    "the page",
                    application
                            .send("POST", "/open/other", RunningApplication.FORM, "not a form")
                            .body());
            application.send("POST", "/open/counting", RunningApplication.FORM, "not a form");
            assertEquals(
                    0,
                    application
                            .context()
                            .getBean(ReaderAfterSecurity.class)
                            .servletCalls
                            .get());
        }
    }

    @Test
    void exceptionHandler_canForwardToAnotherController() throws Exception {
        try (RunningApplication application =
                RunningApplication.start(List.of(Application.class, ForwardingHandler.class))) {
            assertEquals(
                    "the page",
                    application.send("POST", "/open/other", MIXED, "--B--").body());
        }
    }

    @Test
    void rejectedForm_filterBeforeSecurity_readsOnlyQueryParameters() throws Exception {
        try (RunningApplication application = RunningApplication.start(
                List.of(Application.class, ParameterReader.class), "--spring.security.filter.order=-50")) {
            String response;
            int port = application.context().getEnvironment().getRequiredProperty("local.server.port", Integer.class);
            try (Socket socket = new Socket("127.0.0.1", port)) { // HttpClient rejects the malformed query
                String head =
                        "POST /open/other?a=1%202&b&a=%zz&c=x+y HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Type: "
                                + RunningApplication.FORM + "\r\nContent-Length: 2\r\n\r\n--";
                socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
                response = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            }
            assertTrue(response.startsWith("HTTP/1.1 400 "), response);
            assertTrue(response.contains("\r\nParameters: 1 2 [1 2, %zz] null null [a, b, c] [x y]\r\n"), response);
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

    @Test
    void rejection_accept_selectsPageOrProblem() throws Exception {
        Map<String, String> types = Map.of(
                BROWSER,
                "text/html;charset=UTF-8",
                "text/html",
                "text/html;charset=UTF-8",
                "application/json;q=0.5, text/html;q=0.7",
                "text/html;charset=UTF-8",
                "*/*",
                "application/problem+json",
                "application/json, text/html;q=0.9",
                "application/problem+json",
                "application/problem+json, text/html;q=0.9",
                "application/problem+json",
                "image/png",
                "application/problem+json");
        try (RunningApplication application = RunningApplication.start(List.of(Application.class))) {
            for (String[] rejected : new String[][] {{"413", RunningApplication.FORM, LARGE}, {"415", MIXED, "--"}}) {
                for (Map.Entry<String, String> each : types.entrySet()) {
                    HttpResponse<String> response = application.send(application
                            .request("POST", "/open/other", rejected[1], rejected[2])
                            .header("Accept", each.getKey()));
                    assertEquals(rejected[0], String.valueOf(response.statusCode()), each.getKey());
                    String type = response.headers().firstValue("Content-Type").orElse("");
                    assertEquals(each.getValue(), type, each.getKey());
                    assertEquals(type.startsWith("text/html"), response.body().contains("Whitelabel Error Page"));
                }
                assertEquals(
                        rejected[0],
                        String.valueOf(application
                                .send(application
                                        .request("POST", "/open/other", rejected[1], rejected[2])
                                        .header("Accept", "not a type"))
                                .statusCode()));
            }
        }
    }
}

package dev.sluice.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.multipart.MultipartFile;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerResponse;

/** A gateway that forwards bodies unread and has upload controllers. */
@Timeout(60)
class GatewayTest {
    private static final String LARGE = Running.form(2 << 20);

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Gateway {
        @Bean
        Uploads uploads() {
            return new Uploads();
        }

        /** Reads what it would forward. */
        @Bean
        RouterFunction<ServerResponse> route() {
            return RouterFunctions.route()
                    .path(
                            "/proxied",
                            all -> all.route(
                                    request -> true,
                                    request -> ServerResponse.ok()
                                            .body(request.servletRequest()
                                                            .getInputStream()
                                                            .readAllBytes()
                                                            .length
                                                    + " bytes")))
                    .POST(
                            "/asking",
                            request -> ServerResponse.ok()
                                    .body("parts: " + request.multipartData().size()))
                    .build();
        }
    }

    @RestController
    static class Uploads {
        @PostMapping("/upload")
        String upload(@RequestParam("file") MultipartFile file) {
            return "file " + file.getSize();
        }
    }

    private static Running start(String... properties) {
        String[] all = java.util.Arrays.copyOf(properties, properties.length + 2);
        all[properties.length] = "--test.gateway=true";
        all[properties.length + 1] = StarterTest.NO_SECURITY;
        return Running.start(List.of(Gateway.class), all);
    }

    @Test
    void proxiedBody_refusedOrNot_arrivesWhole() throws Exception {
        String[][] bodies = {
            {"POST", Running.FORM, LARGE},
            {"PUT", Running.FORM, LARGE},
            {"DELETE", Running.FORM, LARGE},
            {"POST", Running.FORM, LARGE.substring(0, 1 << 20)},
            {"POST", Running.FORM, "no form"},
            {"POST", "multipart/form-data", LARGE},
            {"POST", "multipart/mixed; boundary=B", LARGE},
        };
        try (Running gateway = start()) {
            for (String[] body : bodies) {
                HttpResponse<String> answer = gateway.send(body[0], "/proxied", body[1], body[2]);
                assertEquals("200 " + body[2].length() + " bytes", answer.statusCode() + " " + answer.body());
            }
        }
    }

    @Test
    void ownUpload_inGateway_hasLimits() throws Exception {
        try (Running gateway = start()) {
            assertEquals(
                    "file 1000",
                    gateway.send("POST", "/upload", Running.FORM, Running.form(1000))
                            .body());
            HttpResponse<String> refused = gateway.send("POST", "/upload", Running.FORM, LARGE);
            assertEquals(413, refused.statusCode());
            assertTrue(refused.body().contains("\"limit\":\"maxPartBytes\""), refused.body());
            assertEquals(
                    415,
                    gateway.send("POST", "/upload", "multipart/mixed; boundary=B", LARGE)
                            .statusCode());
            assertEquals(
                    415,
                    gateway.send("POST", "/asking", "multipart/mixed; boundary=B", LARGE)
                            .statusCode());
        }
    }

    /** The filter for the method has read the body then: what is left of it must not be forwarded. */
    @ParameterizedTest
    @CsvSource({"/proxied", "/upload"})
    void refusedForm_readByAFilter_isNotForwarded(String path) throws Exception {
        try (Running gateway = start("--spring.mvc.hiddenmethod.filter.enabled=true")) {
            assertEquals(413, gateway.send("POST", path, Running.FORM, LARGE).statusCode());
        }
    }
}

package dev.sluice.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.multipart.MultipartFile;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerResponse;

/** A gateway that forwards bodies unread and also has an upload controller. */
@Timeout(60)
class GatewayTest {
    private static final String GATEWAY = "--test.gateway=true";
    private static final String MIXED = "multipart/mixed; boundary=B";
    private static final String LARGE = RunningApplication.form(2 << 20);

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Uploads.class)
    static class Gateway {
        /** Counts the bytes that a route would forward. */
        @Bean
        RouterFunction<ServerResponse> route() {
            return RouterFunctions.route()
                    .path(
                            "/proxied",
                            routes -> routes.route(
                                    request -> true,
                                    request -> ServerResponse.ok()
                                            .body(request.servletRequest()
                                                            .getInputStream()
                                                            .readAllBytes()
                                                            .length
                                                    + " bytes")))
                    .POST(
                            "/multipart-data",
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

    private static RunningApplication start(String... properties) {
        List<String> all = new ArrayList<>(List.of(properties));
        all.add(RunningApplication.NO_SECURITY);
        return RunningApplication.start(List.of(Gateway.class), all.toArray(String[]::new));
    }

    @Test
    void proxiedBody_evenIfRejected_arrivesWhole() throws Exception {
        String[][] bodies = {
            {"POST", RunningApplication.FORM, LARGE},
            {"PUT", RunningApplication.FORM, LARGE},
            {"DELETE", RunningApplication.FORM, LARGE},
            {"POST", RunningApplication.FORM, LARGE.substring(0, 1 << 20)},
            {"POST", RunningApplication.FORM, "not a form"},
            {"POST", "multipart/form-data", LARGE},
            {"POST", MIXED, LARGE},
        };
        try (RunningApplication gateway = start(GATEWAY)) {
            for (String[] body : bodies) {
                HttpResponse<String> response = gateway.send(body[0], "/proxied", body[1], body[2]);
                assertEquals("200 " + body[2].length() + " bytes", response.statusCode() + " " + response.body());
            }
        }
    }

    @Test
    void handlerFunction_withoutGateway_isNotCalledForRejectedBody() throws Exception {
        try (RunningApplication application = start("--spring.servlet.multipart.resolve-lazily=true")) {
            assertEquals(415, application.send("POST", "/proxied", MIXED, LARGE).statusCode());
        }
    }

    @Test
    void upload_toControllerOfGateway_hasLimits() throws Exception {
        try (RunningApplication gateway = start(GATEWAY)) {
            assertEquals(
                    "file 1000",
                    gateway.post("/upload", RunningApplication.form(1000)).body());
            HttpResponse<String> rejected = gateway.post("/upload", LARGE);
            assertEquals(413, rejected.statusCode());
            assertTrue(rejected.body().contains("\"limit\":\"maxPartBytes\""), rejected.body());
            assertEquals(415, gateway.send("POST", "/upload", MIXED, LARGE).statusCode());
            assertEquals(
                    415, gateway.send("POST", "/multipart-data", MIXED, LARGE).statusCode());
        }
    }

    /** A filter has read the start of the body, so the rest must not be forwarded. */
    @ParameterizedTest
    @ValueSource(strings = {"spring.mvc.hiddenmethod.filter.enabled=true", "sluice.parse=eager"})
    void rejectedForm_readByFilter_isNotForwarded(String property) throws Exception {
        try (RunningApplication gateway = start(GATEWAY, "--" + property)) {
            for (String path : List.of("/proxied", "/upload")) {
                assertEquals(413, gateway.post(path, LARGE).statusCode(), path);
            }
        }
    }
}

package dev.sluice.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.form.SpoolDirectory;
import dev.sluice.testkit.Eventually;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.util.ClassUtils;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.multipart.MultipartFile;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

/**
 * Tests on each servlet container that a form is released if the ASYNC dispatch fails after the response was committed.
 */
@Timeout(120)
class AsyncDispatchTest {
    private static final int REQUESTS = 4;

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Controller.class)
    static class Application {
        final AtomicInteger failed = new AtomicInteger();

        /** A filter that fails in ASYNC dispatches, like a security filter that no longer finds the user. */
        @Bean
        FilterRegistrationBean<Filter> failing() {
            FilterRegistrationBean<Filter> failing = new FilterRegistrationBean<>((request, response, chain) -> {
                if (request.getDispatcherType() == DispatcherType.ASYNC) {
                    failed.incrementAndGet();
                    throw new IllegalStateException("not logged in");
                }
                chain.doFilter(request, response);
            });
            failing.setDispatcherTypes(EnumSet.allOf(DispatcherType.class));
            return failing;
        }
    }

    @RestController
    static class Controller {
        @PostMapping("/stream")
        StreamingResponseBody stream(@RequestParam("file") MultipartFile file) {
            return out -> {
                out.write(("file " + file.getSize()).getBytes(StandardCharsets.US_ASCII));
                out.flush();
            };
        }
    }

    /** {@return the factories of the servers on the class path, whose names differ in Boot 3 and 4} */
    static Stream<String> servers() {
        return Stream.of(
                        "web.embedded.tomcat.TomcatServletWebServerFactory",
                        "tomcat.servlet.TomcatServletWebServerFactory",
                        "web.embedded.jetty.JettyServletWebServerFactory",
                        "jetty.servlet.JettyServletWebServerFactory",
                        "web.embedded.undertow.UndertowServletWebServerFactory")
                .map("org.springframework.boot."::concat)
                .filter(name -> ClassUtils.isPresent(name, null))
                .filter(name -> ClassUtils.isPresent(serverClass(name), null));
    }

    private static String serverClass(String factory) {
        return factory.contains("tomcat")
                ? "org.apache.catalina.startup.Tomcat"
                : factory.contains("jetty") ? "org.eclipse.jetty.server.Server" : "io.undertow.Undertow";
    }

    @ParameterizedTest
    @MethodSource("servers")
    void form_whenAsyncDispatchThrows_isReleased(String server) throws Exception {
        ApplicationContextInitializer<GenericApplicationContext> serverInitializer =
                context -> register(context, ClassUtils.resolveClassName(server, null));
        try (RunningApplication application = RunningApplication.start(
                List.of(Application.class), serverInitializer, RunningApplication.NO_SECURITY)) {
            for (int i = 0; i < REQUESTS; i++) {
                try {
                    application.post("/stream", RunningApplication.form(100_000));
                } catch (IOException e) {
                    // Some servers close the connection.
                }
            }
            Eventually.passes(() -> assertEquals(0, application.heldResources()));
            assertEquals(
                    REQUESTS,
                    application.context().getBean(Application.class).failed.get());
            assertEquals(0, application.context().getBean(SpoolDirectory.class).files());
        }
    }

    private static <T> void register(GenericApplicationContext context, Class<T> server) {
        context.registerBean("server", server);
    }
}

package dev.sluice.spring;

import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.testkit.RawHttp;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;

/** A started application, with a client for it. */
record RunningApplication(ConfigurableApplicationContext context) implements AutoCloseable {
    static final String FORM = "multipart/form-data; boundary=B";

    /** Excludes Spring Security, whose classes have different names in Boot 3 and 4, and for servlets and WebFlux. */
    static final String NO_SECURITY = "--spring.autoconfigure.exclude="
            + Stream.of(
                            "autoconfigure.security.servlet.SecurityAutoConfiguration",
                            "autoconfigure.security.servlet.SecurityFilterAutoConfiguration",
                            "autoconfigure.security.servlet.UserDetailsServiceAutoConfiguration",
                            "actuate.autoconfigure.security.servlet.ManagementWebSecurityAutoConfiguration",
                            "security.autoconfigure.SecurityAutoConfiguration",
                            "security.autoconfigure.UserDetailsServiceAutoConfiguration",
                            "security.autoconfigure.web.servlet.ServletWebSecurityAutoConfiguration",
                            "security.autoconfigure.web.servlet.SecurityFilterAutoConfiguration",
                            "security.autoconfigure.actuate.web.servlet.ManagementWebSecurityAutoConfiguration",
                            "autoconfigure.security.reactive.ReactiveSecurityAutoConfiguration",
                            "autoconfigure.security.reactive.ReactiveUserDetailsServiceAutoConfiguration",
                            "actuate.autoconfigure.security.reactive.ReactiveManagementWebSecurityAutoConfiguration",
                            "security.autoconfigure.ReactiveUserDetailsServiceAutoConfiguration",
                            "security.autoconfigure.web.reactive.ReactiveWebSecurityAutoConfiguration",
                            "security.autoconfigure.actuate.web.reactive.ReactiveManagementWebSecurityAutoConfiguration")
                    .map("org.springframework.boot."::concat)
                    .collect(Collectors.joining(","));

    private static final List<String> DEFAULTS = List.of(
            "--server.port=0",
            "--server.address=127.0.0.1",
            "--spring.main.banner-mode=off",
            "--spring.reactor.netty.shutdown-quiet-period=0s",
            "--logging.level.root=OFF",
            "--logging.level.dev.sluice=WARN");

    private static final HttpClient CLIENT =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private static final Map<List<Object>, RunningApplication> SHARED = new HashMap<>();

    static RunningApplication start(List<Class<?>> sources, String... properties) {
        return start(sources, context -> {}, properties);
    }

    /** @param properties command line arguments; the last one with a name applies */
    static RunningApplication start(
            List<Class<?>> sources,
            ApplicationContextInitializer<GenericApplicationContext> initializer,
            String... properties) {
        Map<String, String> arguments = new LinkedHashMap<>();
        Stream.concat(DEFAULTS.stream(), Stream.of(properties))
                .forEach(property -> arguments.put(property.split("=")[0], property));
        if (arguments.containsValue("--server.shutdown=graceful")) {
            arguments.remove("--spring.reactor.netty.shutdown-quiet-period"); // a graceful shutdown needs it
        }
        return new RunningApplication(new SpringApplicationBuilder(sources.toArray(Class<?>[]::new))
                .initializers(initializer)
                .run(arguments.values().toArray(String[]::new)));
    }

    /** {@return a running application that tests with the same configuration share until {@link #stopShared}} */
    static RunningApplication shared(List<Class<?>> sources, String... properties) {
        return SHARED.computeIfAbsent(List.of(sources, List.of(properties)), key -> start(sources, properties));
    }

    static void stopShared() {
        SHARED.values().forEach(RunningApplication::close);
        SHARED.clear();
    }

    static String form(int bytes) {
        return "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f.txt\"\r\n\r\n" + "x".repeat(bytes)
                + "\r\n--B--\r\n";
    }

    int port() {
        return context.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
    }

    RawHttp connect() throws IOException {
        return new RawHttp(port());
    }

    HttpRequest.Builder request(String method, String path, String type, String body) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port() + path))
                .header("Content-Type", type)
                .method(method, HttpRequest.BodyPublishers.ofString(body, StandardCharsets.ISO_8859_1));
    }

    HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        return CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    HttpResponse<String> send(String method, String path, String type, String body) throws Exception {
        return send(request(method, path, type, body));
    }

    /** Sends a form. */
    HttpResponse<String> post(String path, String body) throws Exception {
        return send("POST", path, FORM, body);
    }

    /** {@return the number of files plus the number of bytes in memory that forms still hold} */
    long heldResources() {
        return context.getBean(SpoolDirectory.class).files()
                + context.getBean(MemoryBudget.class).used();
    }

    @Override
    public void close() {
        context.close();
    }
}

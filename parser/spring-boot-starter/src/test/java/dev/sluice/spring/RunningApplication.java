package dev.sluice.spring;

import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;

/** A started application, with a client for it. */
record RunningApplication(ConfigurableApplicationContext context) implements AutoCloseable {
    static final String FORM = "multipart/form-data; boundary=B";

    private static final HttpClient CLIENT =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    static RunningApplication start(List<Class<?>> sources, String... properties) {
        return start(sources, context -> {}, properties);
    }

    static RunningApplication start(
            List<Class<?>> sources,
            ApplicationContextInitializer<GenericApplicationContext> initializer,
            String... properties) {
        List<String> all = new ArrayList<>(List.of(properties));
        all.addAll(List.of(
                "--server.port=0",
                "--server.address=127.0.0.1",
                "--spring.main.banner-mode=off",
                "--logging.level.root=OFF",
                "--logging.level.dev.sluice=WARN"));
        return new RunningApplication(new SpringApplicationBuilder(sources.toArray(Class<?>[]::new))
                .initializers(initializer)
                .run(all.toArray(String[]::new)));
    }

    static String form(int bytes) {
        return "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f.txt\"\r\n\r\n" + "x".repeat(bytes)
                + "\r\n--B--\r\n";
    }

    HttpRequest.Builder request(String method, String path, String type, String body) {
        return HttpRequest.newBuilder(URI.create(
                        "http://127.0.0.1:" + context.getEnvironment().getProperty("local.server.port") + path))
                .header("Content-Type", type)
                .method(method, HttpRequest.BodyPublishers.ofString(body, StandardCharsets.ISO_8859_1));
    }

    HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        return CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    HttpResponse<String> send(String method, String path, String type, String body) throws Exception {
        return send(request(method, path, type, body));
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

package org.example;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** Starts, and uploads to itself: what is told of, and what is too large. */
@SpringBootApplication
public class Application {
    public static void main(String[] args) throws Exception {
        try (ConfigurableApplicationContext context = SpringApplication.run(Application.class, args)) {
            URI root = URI.create("http://127.0.0.1:" + context.getEnvironment().getProperty("local.server.port"));
            expect(post(root.resolve("/upload"), 100_000), 200, "one 100000");
            expect(post(root.resolve("/upload"), 3 << 20), 413, "\"limit\":\"maxPartBytes\"");
            if (args.length > 0 && args[0].equals("webflux")) {
                expect(post(root.resolve("/events"), 100_000), 200, "title file");
                expect(post(root.resolve("/events"), 3 << 20), 413, "\"limit\":\"maxPartBytes\"");
            }
        }
    }

    private static HttpResponse<String> post(URI to, int size) throws Exception {
        String body = "--B\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\none\r\n"
                + "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f.txt\"\r\n\r\n"
                + "x".repeat(size) + "\r\n--B--\r\n";
        HttpRequest request = HttpRequest.newBuilder(to)
                .header("Content-Type", "multipart/form-data; boundary=B")
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
        return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    }

    private static void expect(HttpResponse<String> answer, int status, String body) {
        if (answer.statusCode() != status || !answer.body().contains(body)) {
            throw new AssertionError(answer.statusCode() + " " + answer.body());
        }
    }
}

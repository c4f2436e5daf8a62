package org.example;

import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** A gateway with an upload controller. Forwarded bodies arrive complete, even if Sluice would reject them. */
@SpringBootApplication
public class Application {
    private static final String FORM = "multipart/form-data; boundary=B";

    public static void main(String[] args) throws Exception {
        HttpServer backend = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        backend.createContext("/proxied", exchange -> {
            int size = exchange.getRequestBody().readAllBytes().length;
            byte[] answer = (exchange.getRequestMethod() + " " + size).getBytes();
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        backend.start();
        String routes = "--spring.cloud.gateway.server." + args[0] + ".routes[0].";
        // The default of the gateway is false.
        SpringApplicationBuilder gateway =
                new SpringApplicationBuilder(Application.class).properties("spring.servlet.multipart.enabled=true");
        String[] all = new String[args.length + 3];
        System.arraycopy(args, 0, all, 3, args.length);
        all[0] = routes + "id=backend";
        all[1] = routes + "uri=http://127.0.0.1:" + backend.getAddress().getPort();
        all[2] = routes + "predicates[0]=Path=/proxied/**";
        try (ConfigurableApplicationContext context = gateway.run(all)) {
            URI root = URI.create("http://127.0.0.1:" + context.getEnvironment().getProperty("local.server.port"));
            Uploading.expect(root.resolve("/upload"), 100_000, 200, "one 100000");
            Uploading.expect(root.resolve("/upload"), 3 << 20, 413, "\"limit\":\"maxPartBytes\"");
            String good = "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f.txt\"\r\n\r\n"
                    + "x".repeat(3 << 20) + "\r\n--B--\r\n";
            expectForwarded(root, "POST", FORM, good);
            expectForwarded(root, "PUT", FORM, good);
            expectForwarded(root, "DELETE", FORM, good);
            expectForwarded(root, "POST", FORM, good.substring(0, 2 << 20));
            expectForwarded(root, "POST", FORM, "not a form");
            expectForwarded(root, "POST", "multipart/form-data", good);
            expectForwarded(root, "POST", "multipart/mixed; boundary=B", good);
        } finally {
            backend.stop(0);
        }
    }

    private static void expectForwarded(URI root, String method, String type, String body) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(root.resolve("/proxied/any"))
                .header("Content-Type", type)
                .method(method, HttpRequest.BodyPublishers.ofString(body))
                .build();
        HttpResponse<String> answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        String expected = method + " " + body.length();
        if (answer.statusCode() != 200 || !answer.body().equals(expected)) {
            throw new AssertionError(type + ": " + expected + ", got " + answer.statusCode() + " " + answer.body());
        }
    }
}

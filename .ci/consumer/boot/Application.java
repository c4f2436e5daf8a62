package org.example;

import java.net.URI;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** A Spring Boot application that uploads two forms to itself: a valid one, and one that is too large. */
@SpringBootApplication
public class Application {
    public static void main(String[] args) throws Exception {
        try (ConfigurableApplicationContext context = SpringApplication.run(Application.class, args)) {
            URI root = URI.create("http://127.0.0.1:" + context.getEnvironment().getProperty("local.server.port"));
            Uploading.expect(root.resolve("/upload"), 100_000, 200, "one 100000");
            Uploading.expect(root.resolve("/upload"), 3 << 20, 413, "\"limit\":\"maxPartBytes\"");
            if (args.length > 0 && args[0].equals("webflux")) {
                Uploading.expect(root.resolve("/events"), 100_000, 200, "title file");
                Uploading.expect(root.resolve("/events"), 3 << 20, 413, "\"limit\":\"maxPartBytes\"");
            }
        }
    }
}

package dev.sluice.samples.gateway;

import dev.sluice.testkit.TestForm;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.Part;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.catalina.connector.Connector;
import org.apache.coyote.UpgradeProtocol;
import org.apache.coyote.http2.Http2Protocol;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.tomcat.TomcatWebServer;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.server.servlet.context.ServletWebServerApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** Spring Boot on Tomcat, with the multipart parser of Tomcat. It answers like the applications of {@code src/test/servers}. */
final class BootServer implements AutoCloseable {
    private final ServletWebServerApplicationContext application;

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @RestController
    static class Application {
        @Bean
        WebServerFactoryCustomizer<TomcatServletWebServerFactory> connectors() {
            return factory -> {
                Connector plain = new Connector();
                plain.setPort(0);
                factory.addAdditionalConnectors(plain);
                factory.addConnectorCustomizers(BootServer::acceptShortFrames);
            };
        }

        @PostMapping("/")
        String receive(HttpServletRequest request) throws IOException, ServletException {
            List<String> lines = new ArrayList<>();
            lines.add(Objects.requireNonNullElse(request.getHeader("Content-Length"), "chunked"));
            for (Part part : request.getParts()) {
                String filename = Objects.requireNonNullElse(part.getSubmittedFileName(), "-");
                String hash = TestForm.sha256(part.getInputStream().readAllBytes());
                lines.add(part.getName() + "\t" + filename + "\t" + hash);
            }
            return String.join("\n", lines);
        }
    }

    /**
     * Accepts short HTTP/2 frames. By default Tomcat closes a connection after two frames of a few bytes. Clients send
     * such frames when the flow-control window is nearly used up, so large uploads would fail at random.
     */
    private static void acceptShortFrames(Connector connector) {
        for (UpgradeProtocol protocol : connector.findUpgradeProtocols()) {
            if (protocol instanceof Http2Protocol http2) {
                http2.setOverheadDataThreshold(0);
            }
        }
    }

    BootServer() {
        application = (ServletWebServerApplicationContext) new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.SERVLET)
                .properties(
                        "server.port=0",
                        "server.address=127.0.0.1",
                        "server.shutdown=immediate",
                        "server.http2.enabled=true",
                        "server.ssl.certificate=" + RealServer.CERTIFICATE.toUri(),
                        "server.ssl.certificate-private-key=" + RealServer.CERTIFICATE.toUri(),
                        "spring.main.banner-mode=off",
                        "spring.main.lazy-initialization=true",
                        "logging.level.root=off",
                        "spring.cloud.gateway.server.webflux.enabled=false",
                        "spring.autoconfigure.exclude="
                                + "org.springframework.cloud.gateway.config.GatewayClassPathWarningAutoConfiguration")
                .run("--spring.servlet.multipart.enabled=true"); // Spring Cloud Gateway turns it off
    }

    /** {@return the address for HTTP} */
    URI plain() {
        return URI.create("http://127.0.0.1:"
                + tomcat().getTomcat().getService().findConnectors()[1].getLocalPort() + "/");
    }

    /** {@return the address for HTTPS} */
    URI secure() {
        return URI.create("https://127.0.0.1:" + tomcat().getPort() + "/");
    }

    private TomcatWebServer tomcat() {
        return (TomcatWebServer) application.getWebServer();
    }

    @Override
    public void close() {
        application.close();
    }
}

package dev.sluice.samples.gateway.readme;

import dev.sluice.samples.gateway.ForwardingContract;
import java.net.URI;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** A gateway of Spring Cloud. One application serves all tests: its routes send forms to {@link #upstream}. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class SpringGateway extends ForwardingContract {
    /** The address of the server of the current test. */
    static volatile URI upstream;

    private final Class<?> routes;
    private final WebApplicationType type;
    private ConfigurableApplicationContext application;

    SpringGateway(Class<?> routes, WebApplicationType type) {
        this.routes = routes;
        this.type = type;
    }

    @BeforeAll
    void startApplication() {
        application = new SpringApplicationBuilder(routes)
                .web(type)
                .properties(
                        "server.port=0",
                        "server.address=127.0.0.1",
                        "server.shutdown=immediate",
                        "spring.reactor.netty.shutdown-quiet-period=0s",
                        "spring.main.banner-mode=off",
                        "spring.main.lazy-initialization=true",
                        "logging.level.root=off",
                        "spring.http.clients.imperative.factory=jdk",
                        "spring.http.clients.read-timeout=" + MAX_WAIT,
                        "spring.cloud.gateway.server.webflux.enabled=" + (type == WebApplicationType.REACTIVE),
                        // both gateways are on the class path
                        "spring.autoconfigure.exclude="
                                + "org.springframework.cloud.gateway.config.GatewayClassPathWarningAutoConfiguration")
                .run();
    }

    @AfterAll
    void closeApplication() {
        application.close();
    }

    @Override
    protected URI start(URI next) {
        upstream = next.resolve("/");
        return URI.create(
                "http://127.0.0.1:" + application.getEnvironment().getProperty("local.server.port") + "/upload");
    }

    @Override
    protected void stop() {}
}

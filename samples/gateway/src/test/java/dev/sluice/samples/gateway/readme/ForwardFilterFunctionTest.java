package dev.sluice.samples.gateway.readme;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.cloud.gateway.server.mvc.filter.BeforeFilterFunctions;
import org.springframework.cloud.gateway.server.mvc.handler.GatewayRouterFunctions;
import org.springframework.cloud.gateway.server.mvc.handler.HandlerFunctions;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.ServerResponse;

class ForwardFilterFunctionTest extends SpringGateway {
    ForwardFilterFunctionTest() {
        super(Routes.class, WebApplicationType.SERVLET);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Routes {
        @Bean
        RouterFunction<ServerResponse> routes() {
            return GatewayRouterFunctions.route("forms")
                    .POST("/upload", HandlerFunctions.http())
                    .before(request -> BeforeFilterFunctions.uri(upstream).apply(request))
                    .filter(new ForwardFilterFunction())
                    .build();
        }
    }

    /** The client of the JDK reads the response after it has sent the body. */
    @Override
    protected boolean noticesEarlyResponses() {
        return false;
    }

    /** The read timeout of the HTTP client that forwards the form ends the request. */
    @Override
    protected int statusIfStalled() {
        return 502;
    }

    @Override
    protected long usedMemory() {
        return 0;
    }
}

package dev.sluice.samples.gateway.readme;

import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.webflux.SluiceWebFlux;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.cloud.gateway.route.RouteLocator;
import org.springframework.cloud.gateway.route.builder.RouteLocatorBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

class ForwardGatewayFilterTest extends SpringGateway {
    private static final MemoryBudget MEMORY = MemoryBudget.of(1 << 24);

    ForwardGatewayFilterTest() {
        super(Routes.class, WebApplicationType.REACTIVE);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Routes {
        @Bean
        SluiceWebFlux sluice() {
            return SluiceWebFlux.of(FormOptions.inMemory(MEMORY)
                    .unlimitedBodyBytes()
                    .maxSinkWait(MAX_WAIT)
                    .build());
        }

        @Bean
        RouteLocator routes(RouteLocatorBuilder builder, SluiceWebFlux sluice, Environment environment) {
            return builder.routes()
                    .route(route -> route.path("/upload")
                            .filters(filters -> filters.filter(new ForwardGatewayFilter(sluice)))
                            .uri(environment.getRequiredProperty("test.upstream")))
                    .build();
        }
    }

    @Override
    protected long usedMemory() {
        return MEMORY.used();
    }
}

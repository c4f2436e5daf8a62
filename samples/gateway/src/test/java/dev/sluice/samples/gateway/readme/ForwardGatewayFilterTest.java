package dev.sluice.samples.gateway.readme;

import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.webflux.SluiceWebFlux;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.cloud.gateway.filter.RouteToRequestUrlFilter;
import org.springframework.cloud.gateway.route.RouteLocator;
import org.springframework.cloud.gateway.route.builder.RouteLocatorBuilder;
import org.springframework.cloud.gateway.support.ServerWebExchangeUtils;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

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
        RouteLocator routes(RouteLocatorBuilder builder, SluiceWebFlux sluice) {
            return builder.routes()
                    .route(route -> route.path("/upload")
                            .filters(filters -> filters.filter(new ForwardGatewayFilter(sluice))
                                    .filter(Routes::toUpstream, RouteToRequestUrlFilter.ROUTE_TO_URL_FILTER_ORDER + 1))
                            .uri("http://replaced.invalid"))
                    .build();
        }

        private static Mono<Void> toUpstream(ServerWebExchange exchange, GatewayFilterChain chain) {
            exchange.getAttributes().put(ServerWebExchangeUtils.GATEWAY_REQUEST_URL_ATTR, upstream.resolve("/upload"));
            return chain.filter(exchange);
        }
    }

    @Override
    protected long usedMemory() {
        return MEMORY.used();
    }
}

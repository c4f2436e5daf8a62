package dev.sluice.samples.gateway.readme;

import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.samples.gateway.ForwardingContract;
import dev.sluice.webflux.SluiceWebFlux;
import java.net.URI;
import org.springframework.http.server.reactive.ReactorHttpHandlerAdapter;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.reactive.function.client.WebClientRequestException;
import org.springframework.web.reactive.function.server.HandlerStrategies;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

class ForwardHandlerTest extends ForwardingContract {
    private final MemoryBudget memory = MemoryBudget.of(1 << 24);
    private DisposableServer server;

    @Override
    protected URI start(URI upstream) {
        FormOptions options = FormOptions.inMemory(memory)
                .unlimitedBodyBytes()
                .maxSinkWait(MAX_WAIT)
                .build();
        SluiceWebFlux sluice = SluiceWebFlux.of(options);
        ForwardHandler handler = new ForwardHandler(WebClient.create(), sluice, upstream);
        var routes = RouterFunctions.route()
                .POST("/upload", handler)
                .onError(
                        WebClientRequestException.class,
                        (lost, request) -> ServerResponse.status(502).build())
                .build();
        server = HttpServer.create()
                .host("127.0.0.1")
                .port(0)
                .handle(new ReactorHttpHandlerAdapter(RouterFunctions.toHttpHandler(
                        routes, HandlerStrategies.builder().webFilter(sluice).build())))
                .bindNow();
        return URI.create("http://127.0.0.1:" + server.port() + "/upload");
    }

    @Override
    protected void stop() {
        server.disposeNow();
    }

    @Override
    protected long usedMemory() {
        return memory.used();
    }
}

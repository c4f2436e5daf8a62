package dev.sluice.samples.spring.readme;

import dev.sluice.MultipartBody;
import java.net.URI;
import java.nio.ByteBuffer;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ResponseEntity;
import org.springframework.web.client.RestClient;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.adapter.JdkFlowAdapter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

final class SendWithSpring {
    private SendWithSpring() {}

    static HttpStatusCode send(RestClient client, URI uri, MultipartBody body) {
        // @start region="rest"
        HttpStatusCode status = client.post()
                .uri(uri)
                .header("Content-Type", body.contentType())
                .headers(headers -> body.contentLength().ifPresent(headers::setContentLength))
                .body(body::writeTo)
                .retrieve()
                .toBodilessEntity()
                .getStatusCode();
        // @end
        return status;
    }

    static Mono<ResponseEntity<Void>> send(WebClient client, URI uri, MultipartBody body) {
        // @start region="web"
        Flux<ByteBuffer> content =
                JdkFlowAdapter.flowPublisherToFlux(body.publisher()).subscribeOn(Schedulers.boundedElastic());
        Mono<ResponseEntity<Void>> response = client.post()
                .uri(uri)
                .header("Content-Type", body.contentType())
                .headers(headers -> body.contentLength().ifPresent(headers::setContentLength))
                .body(content, ByteBuffer.class)
                .retrieve()
                .toBodilessEntity();
        // @end
        return response;
    }
}

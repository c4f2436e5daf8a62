package dev.sluice.samples.adapters.readme;

// @start region="reactor"
import dev.sluice.MultipartException;
import dev.sluice.form.FormHead;
import dev.sluice.form.FormSubscriber;
import dev.sluice.form.Forms;
import dev.sluice.form.MultipartForm;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.adapter.JdkFlowAdapter;
import reactor.core.publisher.Mono;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;

/** A request handler for Reactor Netty. */
final class ReactorNettyForms implements BiFunction<HttpServerRequest, HttpServerResponse, Publisher<Void>> {
    private final Forms forms; // one per process
    private final Executor workers; // where files are written
    private final Function<MultipartForm, String> application;

    ReactorNettyForms(Forms forms, Executor workers, Function<MultipartForm, String> application) {
        this.forms = forms;
        this.workers = workers;
        this.application = application;
    }

    @Override
    public Publisher<Void> apply(HttpServerRequest request, HttpServerResponse response) {
        InetSocketAddress client = request.remoteAddress();
        FormHead head = FormHead.of(
                request.requestHeaders()::getAll,
                client == null ? null : client.getAddress().getHostAddress());
        FormSubscriber form = FormSubscriber.of(forms, forms.options(), head, workers);
        CompletableFuture<MultipartForm> received = form.completion().toCompletableFuture();
        if (!received.isDone()) { // otherwise the head was rejected, and 100 (Continue) must not be sent
            JdkFlowAdapter.publisherToFlowPublisher(request.receive().retain()).subscribe(form);
        }
        return Mono.fromFuture(received) // cancelled with the form if the client disconnects
                .map(this::answer)
                .doOnDiscard(MultipartForm.class, MultipartForm::close)
                .onErrorResume(MultipartException.class, refused -> {
                    response.status(refused.httpStatus()).keepAlive(form.isAtEnd());
                    return Mono.just(String.valueOf(refused.getMessage()));
                })
                .flatMap(text -> response.sendString(Mono.just(text)).then());
    }

    private String answer(MultipartForm received) {
        try (received) {
            return application.apply(received);
        }
    }
}
// @end

package dev.sluice.samples.adapters.readme;

// @start region="vertx"
import dev.sluice.MultipartException;
import dev.sluice.form.FormHead;
import dev.sluice.form.FormSubscriber;
import dev.sluice.form.Forms;
import dev.sluice.form.MultipartForm;
import io.netty.buffer.Unpooled;
import io.vertx.core.Context;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerRequest;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;

/** A request handler for Vert.x 4.5 and 5, over HTTP/1.1. */
final class VertxForms implements Handler<HttpServerRequest> {
    private final Forms forms; // one per process
    private final Executor workers; // where files are written
    private final Function<MultipartForm, String> application;

    VertxForms(Forms forms, Executor workers, Function<MultipartForm, String> application) {
        this.forms = forms;
        this.workers = workers;
        this.application = application;
    }

    @Override
    public void handle(HttpServerRequest request) {
        Context loop = Vertx.currentContext();
        FormHead head =
                FormHead.of(request.headers()::getAll, request.remoteAddress().hostAddress());
        FormSubscriber form = FormSubscriber.of(forms, forms.options(), head, workers);
        CompletableFuture<String> answer = form.completion()
                .thenApply(received -> {
                    try (received) {
                        return application.apply(received);
                    }
                })
                .toCompletableFuture();
        if (head.expectsContinue() && !answer.isDone()) { // otherwise the head was rejected
            request.response().writeContinue();
        }
        request.pause()
                .handler(buffer -> form.onNext(Unpooled.wrappedBuffer(buffer.getBytes())))
                .endHandler(end -> form.onComplete())
                .exceptionHandler(form::onError);
        form.start(count -> loop.runOnContext(now -> request.fetch(count)));
        answer.whenComplete((text, failure) -> loop.runOnContext(now -> respond(request, form, text, failure)));
    }

    private static void respond(HttpServerRequest request, FormSubscriber form, String text, Throwable failure) {
        Throwable cause = failure != null && failure.getCause() != null ? failure.getCause() : failure;
        int status = cause == null ? 200 : cause instanceof MultipartException refused ? refused.httpStatus() : 500;
        if (request.response().closed()) {
            return; // the client is gone
        }
        request.response()
                .setStatusCode(status)
                .end(status == 200 ? text : status == 500 ? "the upload failed" : cause.getMessage())
                .onComplete(sent -> {
                    if (!form.isAtEnd()) {
                        request.connection().close();
                    }
                });
    }
}
// @end

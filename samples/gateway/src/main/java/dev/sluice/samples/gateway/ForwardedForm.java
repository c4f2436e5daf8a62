package dev.sluice.samples.gateway;

import dev.sluice.MultipartException;
import dev.sluice.NameEscaping;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.OutgoingForm;
import dev.sluice.netty.FormReceiver;
import io.netty.bootstrap.Bootstrap;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaders;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One form that is checked and forwarded. */
final class ForwardedForm implements FormReceiver {
    private static final Logger LOG = LoggerFactory.getLogger(ForwardedForm.class);

    private final Bootstrap client;
    private final URI upstream;
    private final Rules rules;
    private final History.Form log;
    private @Nullable OutgoingForm out;
    private @Nullable UpstreamRequest request;

    ForwardedForm(Bootstrap client, URI upstream, Rules rules, History.Form log) {
        this.client = client;
        this.upstream = upstream;
        this.rules = rules;
        this.log = log;
    }

    // @start region="receiver"
    @Override
    public FormOptions options(FormOptions defaults) {
        OutgoingForm form =
                OutgoingForm.create(NameEscaping.REPLACE, defaults.multipart().allocator());
        out = form;
        request = UpstreamRequest.send(client, upstream, form);
        return form.options(defaults.toBuilder(), part -> rules.decide(part, form, words -> log.decided(part, words)))
                .progress(now -> log.received(now.partIndex(), now.partBytes()), Duration.ofSeconds(1))
                .build();
    }

    @Override
    public CompletionStage<FullHttpResponse> received(MultipartForm form, HttpHeaders trailers) {
        return Objects.requireNonNull(request).response().thenApply(response -> {
            log.ended(response.status(), "forwarded");
            return Responses.of(response);
        });
    }

    @Override
    public FullHttpResponse failed(Throwable failure) {
        if (out != null) {
            out.close(); // if the head of the request was rejected, nothing else ends the request to the upstream
        }
        return rejection(failure);
    }
    // @end

    private FullHttpResponse rejection(Throwable failure) {
        if (failure instanceof UpstreamException e && e.response != null) {
            log.ended(e.response.status(), "rejected by the upstream before the end");
            return Responses.of(e.response);
        }
        int status = 500;
        String message = "the gateway failed to forward the form";
        if (failure instanceof MultipartException e) {
            status = e.httpStatus();
            message = String.valueOf(e.getMessage());
        } else if (failure instanceof IOException) { // an UpstreamException, unless FormWriter was the first to fail
            status = 502;
            message = failure instanceof UpstreamException
                    ? String.valueOf(failure.getMessage())
                    : "the connection to the upstream failed";
        } else if (failure instanceof TimeoutException) {
            status = 504;
            message = "the upstream did not respond in time";
        }
        if (status >= 500) {
            LOG.atWarn().setCause(status == 500 ? failure : null).log("a form was not forwarded: {}", message);
        }
        log.ended(status, message);
        return Responses.text(status, message);
    }
}

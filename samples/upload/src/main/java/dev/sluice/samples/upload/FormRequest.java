package dev.sluice.samples.upload;

import dev.sluice.form.FormOptions;
import dev.sluice.form.MultipartForm;
import dev.sluice.netty.FormReceiver;
import dev.sluice.s3.S3Form;
import dev.sluice.s3.S3Sinks;
import dev.sluice.samples.report.ErrorResponse;
import dev.sluice.samples.report.PresetName;
import dev.sluice.samples.upload.ServerMetrics.Outcome;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A {@code POST /upload} or {@code POST /inspect} request. */
final class FormRequest implements FormReceiver {
    /** Objects shared by all requests. */
    record Services(
            ServerConfig config,
            ReceivedParts.Store store,
            @Nullable S3Sinks objects,
            ServerMetrics metrics) {
        /** {@return the receiver of the form in {@code request}, or null if it is not a form request} */
        @Nullable
        FormReceiver route(HttpRequest request) {
            if (RequestHead.fault(request) != null) {
                return null;
            }
            QueryStringDecoder uri = new QueryStringDecoder(request.uri());
            return switch (request.method().name() + " " + uri.path()) {
                case "POST /upload", "POST /inspect" -> new FormRequest(this, request, uri);
                default -> null;
            };
        }
    }

    /** The rejection of a request because of its head. */
    private static final class RejectedHead extends IOException {
        private static final long serialVersionUID = 1L;
        private final transient ErrorResponse error;

        RejectedHead(ErrorResponse error) {
            super(error.message());
            this.error = error;
        }
    }

    private static final Logger LOG = LoggerFactory.getLogger(FormRequest.class);

    private final Services services;
    private final HttpRequest request;
    private final QueryStringDecoder uri;
    private final String route;
    private final @Nullable S3Form objects;
    private final ReceivedParts parts;
    private final AtomicBoolean underWay = new AtomicBoolean();

    private FormRequest(Services services, HttpRequest request, QueryStringDecoder uri) {
        this.services = services;
        this.request = request;
        this.uri = uri;
        this.route = uri.path().substring(1);
        this.objects =
                stores() && services.objects() != null ? services.objects().newForm() : null;
        this.parts = new ReceivedParts(stores() ? services.store() : null, objects);
    }

    private boolean stores() {
        return route.equals("upload");
    }

    @Override
    public FormOptions options(FormOptions defaults) throws IOException {
        PresetName name = PresetName.of(uri.parameters().getOrDefault("preset", List.of()));
        ErrorResponse fault = RequestHead.fault(request, name);
        if (name == null || fault != null) {
            throw new RejectedHead(Objects.requireNonNull(fault, "the preset is unknown, but no fault was found"));
        }
        services.metrics().started();
        underWay.set(true);
        FormOptions.Builder options = defaults.toBuilder();
        if (objects != null) {
            objects.options(options); // also waits longer for the store; the decider is replaced below
        }
        return options.preset(name.preset())
                .decodeTransferEncodings(false)
                .maxBodyBytes(stores() ? services.config().maxBodyBytes() : ServerConfig.MAX_INSPECTED_BYTES)
                .decider(parts)
                .progress(parts, Duration.ofDays(1)) // only the reports at the end of each part are needed
                .build();
    }

    @Override
    public CompletionStage<FullHttpResponse> received(MultipartForm form, HttpHeaders trailers) {
        FullHttpResponse response = Responses.json(200, parts.response(form));
        ended(Outcome.DONE);
        return CompletableFuture.completedStage(response);
    }

    @Override
    public FullHttpResponse failed(Throwable failure) {
        ErrorResponse error = failure instanceof RejectedHead rejected
                ? rejected.error
                : failure instanceof IOException || failure instanceof UncheckedIOException
                        ? ErrorResponse.of(failure)
                        : ErrorResponse.internal();
        if (error.status() >= 500) {
            LOG.warn("a form failed", failure);
        }
        Outcome outcome = failure.getCause() instanceof ClosedChannelException ? Outcome.ABORTED : Outcome.REFUSED;
        ended(error.status() >= 500 ? Outcome.FAILED : outcome);
        return Responses.rejection(services.metrics(), error, parts.response(error));
    }

    private void ended(Outcome outcome) {
        if (underWay.compareAndSet(true, false)) {
            services.metrics().ended(route, outcome);
        }
    }
}

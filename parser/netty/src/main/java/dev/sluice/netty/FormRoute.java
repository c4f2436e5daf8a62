package dev.sluice.netty;

import io.netty.handler.codec.http.HttpRequest;
import org.jspecify.annotations.Nullable;

/** A function that selects the requests whose forms are received. */
@FunctionalInterface
public interface FormRoute {
    /**
     * {@return the receiver of the form in the body of {@code request}, or null to pass the request to the next handlers}
     * Called on the event loop when the head of the request has been received. If it throws, the connection is closed without a response.
     *
     * @param request the head of the request, which may be malformed: see its {@link HttpRequest#decoderResult()}. If a receiver is
     *     returned for a malformed head, only its {@link FormReceiver#failed} is called, which responds with the status 400 by default. If
     *     null is returned, the malformed head reaches the next handler as usual in Netty, and the connection is closed after the response
     */
    @Nullable
    FormReceiver route(HttpRequest request);
}

package dev.sluice.netty;

import io.netty.handler.codec.http.HttpRequest;
import org.jspecify.annotations.Nullable;

/** A function that selects the requests whose forms are received. */
@FunctionalInterface
public interface FormRoute {
    /**
     * {@return the receiver of the form in the body of {@code request}, or null to pass the request to the next handlers}
     * Called on the event loop when the head of the request has been received.
     *
     * @param request possibly malformed: see its {@link HttpRequest#decoderResult()}. If there is a receiver, only its {@link
     *     FormReceiver#failed} is called, which returns a response with the status 400 by default. Without one, the malformed
     *     request reaches the next handler as in any Netty pipeline, and the connection is closed after the response
     */
    @Nullable
    FormReceiver route(HttpRequest request);
}

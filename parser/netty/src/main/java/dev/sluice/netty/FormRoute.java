package dev.sluice.netty;

import io.netty.handler.codec.http.HttpRequest;
import org.jspecify.annotations.Nullable;

/** Says what becomes of a request. */
@FunctionalInterface
public interface FormRoute {
    /**
     * {@return who takes the form that the body of {@code request} is, or null to leave the request to the handlers behind}
     * Called on the event loop, once the head has come.
     *
     * @param request possibly malformed: see its {@link HttpRequest#decoderResult()}. If there is a receiver, it is only asked
     *     for the response, which is 400 by default. Without one, the malformed request reaches the next handler as in any
     *     pipeline of Netty, and the connection is closed after the response
     */
    @Nullable
    FormReceiver route(HttpRequest request);
}

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
     * @param request maybe one that is not well-formed: see its {@link HttpRequest#decoderResult()}. Its receiver is only asked
     *     what to answer
     */
    @Nullable
    FormReceiver route(HttpRequest request);
}

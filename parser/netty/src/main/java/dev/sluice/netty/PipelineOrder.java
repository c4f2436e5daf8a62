package dev.sluice.netty;

import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpServerExpectContinueHandler;
import io.netty.handler.codec.http.HttpServerKeepAliveHandler;
import io.netty.handler.codec.http.cors.CorsHandler;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler;
import io.netty.handler.ssl.SslHandler;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A check of the order of handlers in the first pipeline of a {@link MultipartHandlers}. Thread-safe. */
final class PipelineOrder {
    private static final List<Class<? extends ChannelHandler>> AFTER = List.of(
            HttpObjectAggregator.class,
            HttpServerKeepAliveHandler.class,
            HttpServerExpectContinueHandler.class,
            WebSocketServerProtocolHandler.class);

    private static final List<Class<? extends ChannelHandler>> BEFORE = List.of(SslHandler.class, CorsHandler.class);

    private final AtomicBoolean checked = new AtomicBoolean();

    /**
     * Logs a warning about each handler on the wrong side of the form handler. Does nothing after the first call.
     *
     * @param message the first request that has a form or is malformed, or a message that is not part of an HTTP request
     */
    void check(ChannelHandlerContext form, Object message) {
        if (checked.get() || !checked.compareAndSet(false, true)) {
            return;
        }
        boolean before = true;
        boolean found = false;
        for (Map.Entry<String, ChannelHandler> other : form.pipeline()) {
            before &= other.getValue() != form.handler();
            Class<?> type = misplaced(other.getValue(), before);
            if (type != null) {
                found = true;
                warn(
                        type.getSimpleName() + " must be " + (before ? "after" : "before")
                                + " the form handler in the pipeline: see \"Order of handlers\" in the Javadoc of MultipartHandlers");
            }
        }
        if (!found && !(message instanceof HttpRequest)) {
            warn("the form handler has received a " + message.getClass().getSimpleName()
                    + " instead of an HTTP request: put an HttpServerCodec before the form handler, and remove the"
                    + " form handler when the protocol changes");
        }
    }

    private static @Nullable Class<?> misplaced(ChannelHandler handler, boolean before) {
        return (before ? AFTER : BEFORE)
                .stream().filter(type -> type.isInstance(handler)).findFirst().orElse(null);
    }

    private static void warn(String message) {
        System.getLogger(PipelineOrder.class.getPackageName()).log(System.Logger.Level.WARNING, message);
    }
}

package dev.sluice.netty;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import org.jspecify.annotations.Nullable;

/**
 * The state of the current request of a connection: whether the form handler or the next handlers serve it, how much of it was
 * received, and whether the connection stays open after its response. Confined to the event loop.
 */
final class RequestState {
    private final boolean isForm;
    private final boolean http10;
    private @Nullable FormExchange form;
    private long maxDrainBytes;
    private boolean last;
    private boolean fullyReceived;
    private boolean responseSent;

    /**
     * @param head null for the state before the first request, which counts as done
     * @param form null if the next handlers serve the request
     * @param maxDrainBytes the number of bytes that are discarded after the response, unless the form has its own limit
     */
    RequestState(@Nullable HttpRequest head, @Nullable FormExchange form, long maxDrainBytes) {
        this.form = form;
        this.maxDrainBytes = maxDrainBytes;
        isForm = form != null;
        http10 = head != null && head.protocolVersion().compareTo(HttpVersion.HTTP_1_1) < 0;
        last = head != null
                && (!HttpUtil.isKeepAlive(head) || head.decoderResult().isFailure());
        fullyReceived = head == null;
        responseSent = head == null;
    }

    /** {@return the form of the request, or null if there is none or its response has begun} */
    @Nullable
    FormExchange form() {
        return form;
    }

    /** {@return whether the next handlers are serving the request} */
    boolean isForNextHandlers() {
        return !isForm && !isDone();
    }

    /** {@return whether the next request may begin, unless {@link #closesConnection}} */
    boolean isDone() {
        return fullyReceived && responseSent;
    }

    boolean isFullyReceived() {
        return fullyReceived;
    }

    /** Records a message of the body. After a malformed one, the decoder ignores everything that the client sends. */
    void received(Object message) {
        fullyReceived |= message instanceof LastHttpContent;
        last |= message instanceof HttpObject part && part.decoderResult().isFailure();
    }

    /** Records that no more of the body follows. After a rejected expectation, the decoder continues with the next request. */
    void skipBody() {
        fullyReceived = true;
    }

    /**
     * Begins the response, and sets its {@code Connection} header.
     *
     * @param head <em>transferred</em>
     * @param closing whether to close the connection even if the request and the response would keep it open
     * @return the response to send, <em>transferred</em>: a copy if a header must be set and the headers are read-only
     */
    HttpResponse responseBegins(HttpResponse head, boolean closing) {
        maxDrainBytes = form == null ? maxDrainBytes : form.options().maxDrainBytes();
        form = null;
        last |= closing || isForm && !fullyReceived || !HttpUtil.isKeepAlive(head);
        if (!last && !(http10 && isForm)) {
            return head;
        }
        HttpResponse changed = FormExchange.changeable(head);
        changed.headers().set(HttpHeaderNames.CONNECTION, last ? HttpHeaderValues.CLOSE : HttpHeaderValues.KEEP_ALIVE);
        return changed;
    }

    void responseSent(boolean successfully) {
        responseSent = true;
        last |= !successfully; // a client would read the next response as the rest of this one
    }

    /** {@return the number of bytes that are read and discarded after the response} */
    long maxDrainBytes() {
        return maxDrainBytes;
    }

    /** Records that no other request follows. */
    void markLast() {
        last = true;
    }

    /** {@return whether the response was sent and no other request follows} */
    boolean closesConnection() {
        return responseSent && last;
    }
}

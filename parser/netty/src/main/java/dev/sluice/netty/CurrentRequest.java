package dev.sluice.netty;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import org.jspecify.annotations.Nullable;

/** The request whose turn it is: who has it, whether all of it has come, and what its answer says of the connection. */
final class CurrentRequest {
    private final boolean isForm;
    private final boolean http10;
    private @Nullable FormExchange form;
    private long maxDrainBytes;
    private boolean last;
    private boolean complete;
    private boolean answered;

    /**
     * Without a head it is over, as if before the first; without a form the handlers behind have it.
     *
     * @param maxDrainBytes where the form has no other
     */
    CurrentRequest(@Nullable HttpRequest head, @Nullable FormExchange form, long maxDrainBytes) {
        this.form = form;
        this.maxDrainBytes = maxDrainBytes;
        isForm = form != null;
        http10 = head != null && head.protocolVersion().compareTo(HttpVersion.HTTP_1_1) < 0;
        last = head != null
                && (!HttpUtil.isKeepAlive(head) || head.decoderResult().isFailure());
        complete = head == null;
        answered = head == null;
    }

    /** {@return null where there is none, or the answer to it is under way} */
    @Nullable
    FormExchange form() {
        return form;
    }

    /** {@return whether the handlers behind have it} */
    boolean isWithOthers() {
        return !isForm && !isOver();
    }

    /** {@return whether the next may come, unless this {@link #wasLast()}} */
    boolean isOver() {
        return complete && answered;
    }

    boolean isComplete() {
        return complete;
    }

    void comes(Object message) {
        complete |= message instanceof LastHttpContent;
    }

    /** Begins the answer, whose head says whether this is the last. */
    void answer(HttpResponse head, boolean isStopping) {
        maxDrainBytes = form == null ? maxDrainBytes : form.options().maxDrainBytes();
        form = null;
        last |= isStopping || isForm && !complete || !HttpUtil.isKeepAlive(head);
        if (last) {
            head.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        } else if (http10 && isForm) {
            head.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.KEEP_ALIVE);
        }
    }

    void answered(boolean successfully) {
        answered = true;
        last |= isForm && !successfully;
    }

    /** {@return how much of what comes after its answer is worth dropping} */
    long maxDrainBytes() {
        return maxDrainBytes;
    }

    /** Says that no other follows. */
    void last() {
        last = true;
    }

    /** {@return whether it was answered, and no other follows} */
    boolean wasLast() {
        return answered && last;
    }
}

package dev.sluice.netty;

import dev.sluice.form.OutgoingForm;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.LastHttpContent;
import java.nio.channels.ClosedChannelException;
import java.util.Objects;
import java.util.concurrent.Flow;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * A subscriber that writes an {@link OutgoingForm} to a client channel: an HTTP/1.1 connection, with or without TLS, or
 * an HTTP/2 stream.
 *
 * {@snippet file="UpstreamRequest.java" region="send"}
 *
 * <p>It writes as fast as the server reads, with at most {@value #WINDOW} buffers in the channel. If the form fails, it resets the
 * connection or stream, so that the server cannot take the incomplete body for a complete one. If the channel is closed before the body
 * is complete, the form fails with a {@link ClosedChannelException}, or with the exception of a failed write. To choose the exception,
 * call {@link OutgoingForm#abort} first.
 */
public final class FormWriter implements Flow.Subscriber<ByteBuf> {
    private static final int WINDOW = 8;

    private final OutgoingForm form;
    private final Channel channel;
    private final ChannelFutureListener closed;
    private Flow.@Nullable Subscription subscription;

    private FormWriter(OutgoingForm form, Channel channel) {
        this.form = form;
        this.channel = channel;
        this.closed = future -> form.abort(new ClosedChannelException());
    }

    /** Starts to write the form. The head of the request must have been written before. */
    public static void write(OutgoingForm form, Channel channel) {
        form.subscribe(new FormWriter(form, channel));
    }

    @Override
    public void onSubscribe(Flow.Subscription form) {
        subscription = form;
        channel.closeFuture().addListener(closed);
        form.request(WINDOW);
    }

    @Override
    public void onNext(ByteBuf bytes) {
        if (!execute(() -> write(bytes))) {
            bytes.release();
            form.abort(new ClosedChannelException()); // the listener of the closed channel is not called
        }
    }

    private void write(ByteBuf bytes) {
        channel.writeAndFlush(new DefaultHttpContent(bytes)).addListener(sent -> {
            if (sent.isSuccess()) {
                Objects.requireNonNull(subscription).request(1);
            } else {
                form.abort(sent.cause());
            }
        });
    }

    @Override
    public void onComplete() {
        execute(() -> {
            channel.closeFuture().removeListener(closed); // an idle connection must not keep the form reachable
            channel.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT);
        });
    }

    @Override
    public void onError(Throwable reason) {
        execute(() -> {
            if (channel.isOpen()) {
                channel.config().setOption(ChannelOption.SO_LINGER, 0); // a reset; HTTP/2 streams are reset by close()
                channel.close();
            }
        });
    }

    /**
     * Runs {@code step} on the event loop, always as a task. The form calls from several threads, and a write on the event loop would
     * otherwise overtake earlier writes from other threads.
     *
     * @return whether the step will run; otherwise the event loop has ended, and with it the connection
     */
    private boolean execute(Runnable step) {
        try {
            channel.eventLoop().execute(step);
            return true;
        } catch (RejectedExecutionException e) {
            return false;
        }
    }
}

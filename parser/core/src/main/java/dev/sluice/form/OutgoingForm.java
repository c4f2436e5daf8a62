package dev.sluice.form;

import dev.sluice.Boundary;
import dev.sluice.MultipartEncoder;
import dev.sluice.NameEscaping;
import dev.sluice.PartHead;
import dev.sluice.encode.RelayedHead;
import dev.sluice.task.IsolatedCall;
import dev.sluice.task.SerialTask;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A form that is sent to another server while it arrives. It publishes the body of the outgoing request, with a new boundary, and has a
 * sink for each part that the decider of the incoming form forwards. Create one per form, and close it when the form has ended.
 *
 * {@snippet file="ForwardServlet.java" region="forward"}
 *
 * <p><b>Completeness.</b> The body is completed when the whole form was accepted. If the form is rejected, aborted or incomplete, the
 * subscriber gets {@code onError}. An HTTP client then resets the request, and the other server never receives the end of the body. The
 * subscriber cancels, or the application calls {@link #abort}, if the other server answers early or the connection is lost. The incoming
 * form then fails: immediately if it waits for the subscriber, otherwise when the next bytes of the client arrive.
 *
 * <p><b>Flow.</b> The incoming form waits until the subscriber requests more, at most {@link FormOptions#maxSinkWait()}. The client gets no
 * {@code 100 Continue} before the subscriber's first request, so it does not send the body if the other server is down. Content is passed
 * through as retained slices.
 *
 * <p>Thread-safe.
 */
public final class OutgoingForm implements FormAdmission, Flow.Publisher<ByteBuf>, AutoCloseable {
    /** A subscriber, and a function that passes a buffer to it, <em>transferred</em>. */
    private record Recipient(Flow.Subscriber<?> subscriber, Consumer<ByteBuf> onNext) {}

    private final MultipartEncoder encoder;

    private final SerialTask delivering = new SerialTask(this::deliver);
    private final AtomicBoolean hasSubscriber = new AtomicBoolean();
    private final AtomicLong demand = new AtomicLong();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private volatile @Nullable Recipient recipient;
    private volatile boolean cancelled;

    // The incoming form writes these fields in this order, and deliver() reads them in the reverse order: the buffers,
    // whether they are the last ones, and the readiness for which the form waits.
    private final Queue<ByteBuf> waiting = new ConcurrentLinkedQueue<>();
    private volatile boolean committing;
    private volatile @Nullable Readiness blocked;

    /** Whether the subscriber has received everything. Used only by {@link #deliver}. */
    private boolean complete;

    private OutgoingForm(NameEscaping escaping, ByteBufAllocator allocator) {
        this.encoder = MultipartEncoder.create(Boundary.random("multipart/form-data"), escaping, allocator);
    }

    /**
     * {@return a form without parts}
     *
     * @param escaping the treatment of names that could be misread
     * @param allocator the allocator of buffers for header sections and delimiters
     */
    public static OutgoingForm create(NameEscaping escaping, ByteBufAllocator allocator) {
        return new OutgoingForm(escaping, allocator);
    }

    /** {@return the value for the {@code Content-Type} header field of the outgoing request} */
    public String contentType() {
        return encoder.contentType();
    }

    /**
     * {@return {@code options} for the incoming form, changed so that it is forwarded} Transfer encodings and nested bodies are decoded,
     * because the outgoing form has neither.
     *
     * @param decider returns {@link PartDecision#to} with {@link #part(PartHead)} for each part to send
     */
    public FormOptions.Builder options(FormOptions.Builder options, PartDecider decider) {
        return options.admission(this)
                .decider(decider)
                .decodeTransferEncodings(true)
                .expandNested(true);
    }

    /**
     * {@return a sink that sends the part with the names and the type that the client sent} If the {@link
     * dev.sluice.MultipartEncoder} rejects the type, it is replaced as in {@link dev.sluice.FormRelay}. If the names could be misread, the
     * form is rejected.
     */
    public PartSink part(PartHead head) {
        return new Part(RelayedHead.of(head));
    }

    /**
     * {@return a sink that sends a part with these names and this type} If these could be misread, the form fails with an {@link
     * IllegalArgumentException}.
     *
     * @param filename null for a field; empty for a file input that was left empty, which has no content
     * @param contentType the media type, or null to send the part without a {@code Content-Type}
     */
    public PartSink part(String name, @Nullable String filename, @Nullable String contentType) {
        return new Part(new RelayedHead(name, filename, contentType, null));
    }

    /** The sink of one part. It begins the part with the first content, so an unused sink leaves no trace in the body. */
    private final class Part implements PartSink {
        private final RelayedHead head;
        private boolean begun;

        Part(RelayedHead head) {
            this.head = head;
        }

        @Override
        public Readiness write(ByteBuf data) throws IOException {
            begin(true);
            waiting.add(encoder.write(data.retainedSlice()));
            return send();
        }

        @Override
        public Readiness complete() throws IOException {
            begin(false);
            return send();
        }

        private void begin(boolean hasContent) throws IOException {
            if (!begun) {
                begun = true;
                waiting.add(head.begin(encoder, hasContent));
            }
        }

        @Override
        public void close() {}
    }

    // ---- the incoming form

    @Override
    public Readiness admit() throws IOException {
        return send();
    }

    @Override
    public Readiness commit() throws IOException {
        waiting.add(encoder.finish());
        committing = true;
        return send();
    }

    /** Fails the outgoing request, and with it the form, unless the subscriber has received everything. */
    @Override
    public void cancelCommit(Throwable reason) {
        abort(reason);
    }

    /** Fails the outgoing request unless it is complete. */
    @Override
    public void ended() {
        close();
    }

    /**
     * {@return a readiness that is ready when the subscriber has received all buffers and either requests more or has received the last
     * one}
     */
    private Readiness send() throws IOException {
        Readiness sent = Readiness.pending();
        blocked = sent;
        delivering.triggerAndRun();
        return sent.checkReady() ? Readiness.READY : sent;
    }

    /** Fails the outgoing request unless it is complete, and releases everything. Idempotent. */
    @Override
    public void close() {
        abort(new IOException("the form of the client was rejected or is incomplete"));
    }

    /**
     * Fails the incoming form and the outgoing request. Has no effect after the first call or when the request is complete.
     *
     * @param reason the exception with which the incoming form fails, for example because the other server has answered early
     */
    public void abort(Throwable reason) {
        failure.compareAndSet(null, Objects.requireNonNull(reason, "reason"));
        delivering.triggerAndRun();
    }

    // ---- the outgoing request

    /** @param subscriber receives the buffers, <em>transferred</em>. A second subscriber gets {@code onError} */
    @Override
    public void subscribe(Flow.Subscriber<? super ByteBuf> subscriber) {
        subscribe(new Recipient(subscriber, subscriber::onNext));
    }

    /** {@return the body for the JDK's HTTP client, of unknown length} Content is copied, because that client does not release it. */
    public HttpRequest.BodyPublisher publisher() {
        return HttpRequest.BodyPublishers.fromPublisher(copies -> subscribe(new Recipient(copies, bytes -> {
            ByteBuffer copy;
            try {
                copy = ByteBuffer.wrap(ByteBufUtil.getBytes(bytes));
            } catch (RuntimeException | Error e) {
                abort(e);
                return;
            } finally {
                bytes.release();
            }
            copies.onNext(copy);
        })));
    }

    private void subscribe(Recipient given) {
        boolean first = hasSubscriber.compareAndSet(false, true);
        given.subscriber.onSubscribe(new Flow.Subscription() {
            @Override
            public void request(long count) {
                if (first && count > 0) {
                    demand.accumulateAndGet(count, (a, b) -> a > Long.MAX_VALUE - b ? Long.MAX_VALUE : a + b);
                    delivering.triggerAndRun();
                } else if (first) {
                    abort(new IllegalArgumentException("the subscriber has requested less than one buffer"));
                }
            }

            @Override
            public void cancel() {
                if (first) {
                    cancelled = true;
                    abort(new IOException("the request to the other server ended before the form was complete"));
                }
            }
        });
        if (first) {
            recipient = given;
            delivering.triggerAndRun();
        } else {
            given.subscriber.onError(new IllegalStateException(
                    "the form can be sent only once, because it is not kept: do not repeat the request"));
        }
    }

    /** Sends the next signals to the subscriber and to the form. */
    private void deliver() {
        Readiness waitingForm = blocked;
        boolean last = committing;
        Recipient to = recipient;
        while (failure.get() == null && to != null && demand.get() > 0) {
            ByteBuf next = waiting.poll();
            if (next == null) {
                break;
            }
            demand.decrementAndGet();
            try {
                to.onNext.accept(next);
            } catch (Throwable e) {
                cancelled = true;
                failure.compareAndSet(null, e);
            }
        }
        Throwable reason = complete ? null : failure.get();
        if (reason != null) {
            for (ByteBuf next; (next = waiting.poll()) != null; next.release()) {}
            if (to != null) {
                recipient = null;
                if (!cancelled) {
                    IsolatedCall.run(() -> to.subscriber.onError(reason));
                }
            }
            if (waitingForm != null) {
                waitingForm.fail(reason);
            }
        } else if (waiting.isEmpty()) {
            if (last && to != null) {
                recipient = null;
                complete = true;
                IsolatedCall.run(to.subscriber::onComplete);
            }
            if (waitingForm != null && (last ? complete : demand.get() > 0)) {
                waitingForm.ready();
            }
        }
    }
}

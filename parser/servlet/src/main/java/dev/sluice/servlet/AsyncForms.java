package dev.sluice.servlet;

import dev.sluice.form.FormOptions;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.time.Duration;
import java.util.Objects;

/**
 * Receives forms without a thread for each, where no {@link MultipartFilter} is in front (behind one, {@link
 * MultipartRequests#receive} is enough). Make one for the web application, say in {@code Servlet.init}, and close it in
 * {@code destroy}: its thread ends then, and so does every form that is still coming in. Thread-safe.
 */
public final class AsyncForms implements AutoCloseable {
    private final Reception reception;

    private AsyncForms(Builder builder) {
        this.reception = new Reception(builder.options, builder.minBytesPerSecond, builder.grace, null);
    }

    /** {@return one with the default minimum rate: 240 bytes per second after 5 seconds of grace} */
    public static AsyncForms create(FormOptions options) {
        return builder(options).build();
    }

    /**
     * {@return a builder}
     *
     * @param options spool and budget stay the caller's. Where they have netty's default allocator, memory comes from
     *     one that keeps nothing per thread
     */
    public static Builder builder(FormOptions options) {
        return new Builder(options);
    }

    /**
     * {@return the form of the request, which begins to come in now}
     *
     * @param request of which the asynchronous mode is started, if it was not
     * @throws IllegalStateException if somebody else has the body, or the request does not support asynchronous operation
     * @throws IOException of the connection, as it comes
     */
    public AsyncForm receive(HttpServletRequest request) throws IOException {
        return receive(request, reception.options());
    }

    /**
     * {@return the form of the request, which begins to come in now}
     *
     * @param options for this request: those given at first, changed ({@link FormOptions#toBuilder()})
     * @throws IllegalStateException as {@link #receive(HttpServletRequest)}
     * @throws IOException of the connection, as it comes
     */
    public AsyncForm receive(HttpServletRequest request, FormOptions options) throws IOException {
        RequestState known = RequestState.of(request);
        RequestState state = known != null ? known : RequestState.attach(request, reception);
        try {
            return AsyncForm.start(state, request, Reception.withoutThreadCaches(options));
        } catch (IOException | RuntimeException | Error e) {
            if (known == null && !state.isAsync()) {
                state.detach(); // nobody would tell of its end
            }
            throw e;
        }
    }

    /** {@return how many requests whose forms this has received are not over yet} */
    public int live() {
        return reception.live();
    }

    /** Cancels the forms that come in, closes those that are there, and stops the thread. Idempotent. */
    @Override
    public void close() {
        reception.close();
    }

    /** Collects settings; not thread-safe. */
    public static final class Builder {
        private final FormOptions options;
        private long minBytesPerSecond = Reception.MIN_BYTES_PER_SECOND;
        private Duration grace = Reception.MIN_RATE_GRACE;

        private Builder(FormOptions options) {
            this.options = Objects.requireNonNull(options, "options");
        }

        /**
         * Sets how fast a client has to send; 240 bytes per second by default. Only its own time counts, not that in
         * which the form is paused or a sink is busy.
         *
         * @param bytesPerSecond 1 or more
         * @param grace how long it may send nothing at first, more than 0; 5 seconds by default
         * @return this builder
         */
        public Builder minimumRate(long bytesPerSecond, Duration grace) {
            this.minBytesPerSecond = Reception.checkRate(bytesPerSecond, grace);
            this.grace = grace;
            return this;
        }

        /**
         * Lets clients send as slowly as the container does.
         *
         * @return this builder
         */
        public Builder noMinimumRate() {
            this.minBytesPerSecond = 0;
            return this;
        }

        /** {@return what was built; to be closed} */
        public AsyncForms build() {
            return new AsyncForms(this);
        }
    }
}

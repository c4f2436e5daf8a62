package dev.sluice.servlet;

import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import java.util.function.Consumer;

/** Runs the code of a test when an asynchronous request is complete, or when it times out. */
public record RequestListener(Consumer<AsyncEvent> completed, Consumer<AsyncEvent> timedOut) implements AsyncListener {
    public static RequestListener dispatchOnTimeout() {
        return new RequestListener(event -> {}, event -> event.getAsyncContext().dispatch());
    }

    @Override
    public void onComplete(AsyncEvent event) {
        completed.accept(event);
    }

    @Override
    public void onTimeout(AsyncEvent event) {
        timedOut.accept(event);
    }

    @Override
    public void onError(AsyncEvent event) {}

    @Override
    public void onStartAsync(AsyncEvent event) {}
}

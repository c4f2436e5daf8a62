package dev.sluice.servlet;

import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;

/** Dispatches a request again when its time is over. */
public final class DispatchAfterTime implements AsyncListener {
    @Override
    public void onTimeout(AsyncEvent event) {
        event.getAsyncContext().dispatch();
    }

    @Override
    public void onComplete(AsyncEvent event) {}

    @Override
    public void onError(AsyncEvent event) {}

    @Override
    public void onStartAsync(AsyncEvent event) {}
}

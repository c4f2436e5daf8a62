package dev.sluice.servlet;

import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;

public final class DispatchOnTimeout implements AsyncListener {
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

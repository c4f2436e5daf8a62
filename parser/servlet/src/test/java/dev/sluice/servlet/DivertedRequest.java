package dev.sluice.servlet;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.function.Consumer;

/** A request whose asynchronous context passes workers to the test and can suppress notifications. */
public final class DivertedRequest extends HttpServletRequestWrapper {
    private final Consumer<Runnable> executor;
    private boolean notifiesListeners = true;
    private boolean notifiesCompletion = true;
    private Consumer<Runnable> completing = Runnable::run;

    public DivertedRequest(Consumer<Runnable> executor, HttpServletRequest request) {
        super(request);
        this.executor = executor;
    }

    DivertedRequest withoutListeners() {
        notifiesListeners = false;
        return this;
    }

    public DivertedRequest withoutCompletion() {
        notifiesCompletion = false;
        return this;
    }

    /** Completes the request with {@code executor}, as a container with a separate thread does. */
    DivertedRequest completing(Consumer<Runnable> executor) {
        completing = executor;
        return this;
    }

    @Override
    public AsyncContext startAsync() {
        return diverted(super.startAsync());
    }

    @Override
    public AsyncContext getAsyncContext() {
        return diverted(super.getAsyncContext());
    }

    private AsyncContext diverted(AsyncContext context) {
        return (AsyncContext) Proxy.newProxyInstance(
                AsyncContext.class.getClassLoader(), new Class<?>[] {AsyncContext.class}, (proxy, method, of) -> {
                    if (method.getName().equals("start")) {
                        executor.accept((Runnable) of[0]);
                        return null;
                    }
                    if (method.getName().equals("complete")) {
                        completing.accept(context::complete);
                        return null;
                    }
                    if (method.getName().equals("addListener")) {
                        if (!notifiesListeners) {
                            return null;
                        } else if (!notifiesCompletion) {
                            of[0] = withoutOnComplete((AsyncListener) of[0]);
                        }
                    }
                    try {
                        return method.invoke(context, of);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private static AsyncListener withoutOnComplete(AsyncListener listener) {
        return (AsyncListener) Proxy.newProxyInstance(
                AsyncListener.class.getClassLoader(),
                new Class<?>[] {AsyncListener.class},
                (proxy, method, of) -> method.getName().equals("onComplete") ? null : method.invoke(listener, of));
    }
}

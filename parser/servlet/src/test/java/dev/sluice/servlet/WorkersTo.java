package dev.sluice.servlet;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.function.Consumer;

/** A request whose workers go where the test wants them. */
final class WorkersTo extends HttpServletRequestWrapper {
    private final Consumer<Runnable> where;
    private boolean listenersHear = true;
    private Consumer<Runnable> completing = Runnable::run;

    WorkersTo(Consumer<Runnable> where, HttpServletRequest request) {
        super(request);
        this.where = where;
    }

    /** Nobody is told of the end of the request. */
    WorkersTo withoutListeners() {
        listenersHear = false;
        return this;
    }

    /** Completes the request there, as a container that has a thread of its own for it. */
    WorkersTo completing(Consumer<Runnable> there) {
        completing = there;
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
                        where.accept((Runnable) of[0]);
                        return null;
                    }
                    if (method.getName().equals("complete")) {
                        completing.accept(context::complete);
                        return null;
                    }
                    if (method.getName().equals("addListener") && !listenersHear) {
                        return null;
                    }
                    try {
                        return method.invoke(context, of);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}

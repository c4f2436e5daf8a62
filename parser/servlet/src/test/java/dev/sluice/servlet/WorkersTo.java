package dev.sluice.servlet;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.function.Consumer;

/** A request whose workers go where the test wants them. */
public final class WorkersTo extends HttpServletRequestWrapper {
    private final Consumer<Runnable> where;
    private boolean listenersHear = true;
    private boolean ofCompletion = true;
    private Consumer<Runnable> completing = Runnable::run;

    public WorkersTo(Consumer<Runnable> where, HttpServletRequest request) {
        super(request);
        this.where = where;
    }

    /** Nobody is told of the end of the request. */
    WorkersTo withoutListeners() {
        listenersHear = false;
        return this;
    }

    /** Listeners are told of all but the end of the request. */
    public WorkersTo withoutCompletion() {
        ofCompletion = false;
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
                    if (method.getName().equals("addListener")) {
                        if (!listenersHear) {
                            return null;
                        } else if (!ofCompletion) {
                            of[0] = deafToCompletion((AsyncListener) of[0]);
                        }
                    }
                    try {
                        return method.invoke(context, of);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private static AsyncListener deafToCompletion(AsyncListener listener) {
        return (AsyncListener) Proxy.newProxyInstance(
                AsyncListener.class.getClassLoader(),
                new Class<?>[] {AsyncListener.class},
                (proxy, method, of) -> method.getName().equals("onComplete") ? null : method.invoke(listener, of));
    }
}

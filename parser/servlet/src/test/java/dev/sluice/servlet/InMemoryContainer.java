package dev.sluice.servlet;

import dev.sluice.testkit.Nothing;
import dev.sluice.testkit.TestForm;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A container in memory for one asynchronous request. The test decides on which thread data, errors, timeouts and the end of
 * the request arrive, even while another thread uses the request.
 */
final class InMemoryContainer {
    final HttpServletRequest request = new Request();

    private final Wire wire;
    private final AsyncContext async = (AsyncContext) Proxy.newProxyInstance(
            AsyncContext.class.getClassLoader(),
            new Class<?>[] {AsyncContext.class},
            (proxy, method, of) -> callAsync(method.getName(), of));
    private final List<AsyncListener> listeners = new CopyOnWriteArrayList<>();
    private final List<Thread> threads = new CopyOnWriteArrayList<>();
    private final AtomicInteger completions = new AtomicInteger();
    private final AtomicInteger workers = new AtomicInteger();
    private final AtomicReference<Throwable> trouble = new AtomicReference<>();
    private volatile ReadListener reader;
    private volatile boolean calling;

    /** Runs before {@code isReady} returns false, like another thread that is faster. */
    Task beforeNotReady = () -> {};

    InMemoryContainer(byte[] body) {
        this.wire = new Wire(body);
    }

    // ---- threads

    void fork(Task task) {
        Thread thread = new Thread(() -> attempt(task));
        threads.add(thread);
        thread.start();
    }

    /** Runs a task and records its exception. */
    void attempt(Task task) {
        try {
            task.run();
        } catch (Exception | AssertionError e) {
            report(e);
        }
    }

    private void report(Throwable reason) {
        trouble.compareAndSet(null, reason);
    }

    /** Waits for all threads, including the threads that they start, and throws the first recorded exception. */
    void join() throws InterruptedException {
        for (int i = 0; i < threads.size(); i++) {
            threads.get(i).join();
        }
        Throwable first = trouble.get();
        if (first != null) {
            throw new AssertionError(first.toString(), first);
        }
    }

    interface Task {
        void run() throws Exception;
    }

    // ---- events

    /** Delivers more bytes of the body. */
    void arrive(int bytes) throws IOException {
        if (wire.arrive(bytes)) {
            calling = true;
            reader.onDataAvailable();
            calling = false;
        }
    }

    void end() throws IOException {
        if (wire.end()) {
            calling = true;
            reader.onAllDataRead();
            calling = false;
        }
    }

    void fail(IOException reason) {
        calling = true;
        reader.onError(reason);
        calling = false;
    }

    /** Times out the request, and completes it unless it has been completed. */
    void timeOut() throws IOException {
        for (AsyncListener listener : listeners) {
            listener.onTimeout(new AsyncEvent(async));
        }
        if (wire.close()) {
            notifyCompletion();
        }
    }

    /** Completes the request on behalf of the application. */
    void complete() {
        async.complete();
    }

    private void notifyCompletion() throws IOException {
        for (AsyncListener listener : listeners) {
            listener.onComplete(new AsyncEvent(async));
        }
    }

    /** Makes any further use of the body an error. */
    void forbidBodyUse() {
        wire.forbidBodyUse();
    }

    // ---- state

    /** {@return whether a container thread runs the read listener} */
    boolean isCalling() {
        return calling;
    }

    /** {@return whether a worker has not ended} */
    boolean isWorking() {
        return workers.get() > 0;
    }

    boolean isOver() {
        return wire.isOver();
    }

    /** {@return the number of times that the application completed the request} */
    int completions() {
        return completions.get();
    }

    /** The state that a container guards with a lock. */
    final class Wire {
        private final byte[] body;
        private int arrived;
        private int taken;
        private boolean ended;
        private boolean wanted;
        private boolean over;
        private boolean bodyUseForbidden;

        private Wire(byte[] body) {
            this.body = body;
        }

        /** Adds bytes. {@return whether the application waits for a notification} */
        synchronized boolean arrive(int bytes) {
            arrived += bytes;
            return notifies();
        }

        /** Ends the body. {@return whether the application waits for a notification} */
        synchronized boolean end() {
            ended = true;
            return notifies();
        }

        private boolean notifies() {
            boolean notifies = wanted && !over;
            wanted = false;
            return notifies;
        }

        synchronized void want() {
            requireNotOver();
            wanted = true;
        }

        synchronized void forbidBodyUse() {
            bodyUseForbidden = true;
        }

        /** Reports the error instead of throwing it, because the form might ignore a late exception. */
        private void requireBodyUseAllowed() {
            if (bodyUseForbidden) {
                report(new AssertionError("the body is used after the end of the form"));
            }
        }

        synchronized boolean isReady() {
            requireBodyUseAllowed();
            requireNotOver();
            boolean ready = ended || taken < arrived;
            wanted = !ready;
            return ready;
        }

        synchronized boolean isFinished() {
            return ended && taken == arrived;
        }

        synchronized int read(byte[] into, int offset, int most) {
            requireBodyUseAllowed();
            requireNotOver();
            if (taken == arrived && !ended) {
                throw new IllegalStateException("the stream was read before it was ready");
            }
            int count = Math.min(most, arrived - taken);
            System.arraycopy(body, taken, into, offset, count);
            taken += count;
            return count == 0 ? -1 : count;
        }

        /** Ends the request. {@return whether this is the first call} */
        synchronized boolean close() {
            boolean first = !over;
            over = true;
            return first;
        }

        synchronized boolean isOver() {
            return over;
        }

        synchronized void requireNotOver() {
            if (over) {
                throw new IllegalStateException("the request has ended");
            }
        }
    }

    private final class Request extends HttpServletRequestWrapper {
        private final Map<String, Object> attributes = new HashMap<>();
        private final ServletInputStream in = new Body();
        private volatile boolean started;

        Request() {
            super(Nothing.of(HttpServletRequest.class));
        }

        @Override
        public Object getAttribute(String name) {
            return attributes.get(name);
        }

        @Override
        public void setAttribute(String name, Object value) {
            attributes.put(name, value);
        }

        @Override
        public boolean isAsyncSupported() {
            return true;
        }

        @Override
        public boolean isAsyncStarted() {
            return started && !wire.isOver();
        }

        @Override
        public AsyncContext startAsync() {
            started = true;
            return async;
        }

        @Override
        public AsyncContext getAsyncContext() {
            return async;
        }

        @Override
        public ServletInputStream getInputStream() {
            return in;
        }

        @Override
        public String getContentType() {
            return TestForm.CONTENT_TYPE;
        }

        @Override
        public long getContentLengthLong() {
            return -1;
        }

        @Override
        public String getProtocol() {
            return "HTTP/1.1";
        }

        @Override
        public String getRemoteAddr() {
            return "192.0.2.1";
        }
    }

    private final class Body extends ServletInputStream {
        @Override
        public boolean isFinished() {
            return wire.isFinished();
        }

        @Override
        public boolean isReady() {
            boolean ready = wire.isReady();
            if (!ready) {
                attempt(beforeNotReady);
            }
            return ready;
        }

        @Override
        public void setReadListener(ReadListener listener) {
            reader = listener;
            wire.want();
        }

        @Override
        public int read() {
            throw new UnsupportedOperationException("single bytes cannot be read");
        }

        @Override
        public int read(byte[] into, int offset, int most) {
            return wire.read(into, offset, most);
        }
    }

    private @Nullable Object callAsync(String method, Object[] arguments) {
        switch (method) {
            case "start" -> startWorker((Runnable) arguments[0]);
            case "complete" -> {
                completions.incrementAndGet();
                if (wire.close()) {
                    fork(this::notifyCompletion);
                }
            }
            case "addListener" -> listeners.add((AsyncListener) arguments[0]);
            case "equals" -> { // called by Lincheck, like hashCode
                return async == arguments[0];
            }
            case "hashCode" -> {
                return System.identityHashCode(async);
            }
            default -> throw new UnsupportedOperationException(method);
        }
        return null;
    }

    private void startWorker(Runnable worker) {
        wire.requireNotOver();
        workers.incrementAndGet();
        fork(() -> {
            try {
                wire.requireNotOver();
                worker.run();
            } finally {
                workers.decrementAndGet();
            }
        });
    }
}

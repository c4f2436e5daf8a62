package dev.sluice.testkit;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;

/**
 * A proxy between an HTTP/1.1 client and a server on this machine. It injects network and server faults into chosen
 * requests. Each connection carries one request, and bodies have a {@code Content-Length}.
 */
public final class FaultProxy implements Closeable {
    /** A fault that is injected into one request. */
    public enum Fault {
        NONE,
        /** The response ends within its header section, as if a proxy had closed the connection. */
        CUT_IN_HEAD,
        /** The response is cut off before its end. */
        CUT_IN_BODY,
        /** The connection is reset right after the response. */
        CUT_AFTER,
        /** The connection is reset after half of the body has reached the server. */
        RESET,
        /** The server handles the request, and the connection is reset instead of a response. */
        LOST_RESPONSE,
        /** Nothing is sent to the server or the client. The connection ends at {@link #release} or {@link #close}. */
        HANG,
        /** The response arrives in small pieces. */
        SLOW,
        /** The server handles the request, and the response is delayed until {@link #release}. */
        LATE_RESPONSE,
        /** The connection is reset, and the server receives the request at {@link #release}. */
        LATE_REQUEST,
        /** The server receives the request a second time at {@link #release}. */
        DUPLICATE,
        /** Letters and digits in the headers and the body of the response are changed, but not in a chunked body. */
        DAMAGED_RESPONSE,
        /** The last byte of the body that the server receives is changed. */
        DAMAGED_BODY,
        NOT_FOUND,
        CONFLICT,
        PRECONDITION_FAILED,
        SERVER_ERROR,
        BUSY,
        /** The server handles the request, and the response is 200 with an error document. */
        ERROR_IN_200,
        /** The server handles the request, and its response is replaced by an empty one with status 200. */
        EMPTY_200,
        FORBIDDEN,
        EXPIRED_TOKEN
    }

    private record Rule(Predicate<String> which, AtomicInteger calls, int first, int last, Fault fault) {}

    private static final long SLOW_MILLIS = 5;
    private static final int RECEIVE_BUFFER = 64 << 10;

    private final ServerSocket listener;
    private final int port;
    private final long bytesPerSecond;
    private long busyUntil = System.nanoTime();
    private final List<Rule> rules = new CopyOnWriteArrayList<>();
    private final List<String> requests = new CopyOnWriteArrayList<>();
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final AtomicInteger done = new AtomicInteger();
    private final CompletableFuture<Void> released = new CompletableFuture<>();

    /** Starts a proxy for the server at {@code port}. */
    public FaultProxy(int port) throws IOException {
        this(port, Long.MAX_VALUE);
    }

    /** Starts a proxy that sends request bodies to {@code port}, all together at {@code bytesPerSecond}. */
    public FaultProxy(int port, long bytesPerSecond) throws IOException {
        this.port = port;
        this.bytesPerSecond = bytesPerSecond;
        this.listener = new ServerSocket();
        if (bytesPerSecond < Long.MAX_VALUE) { // a larger buffer would accept whole bodies at once
            listener.setReceiveBufferSize(RECEIVE_BUFFER);
        }
        listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 200);
        start(this::accept);
    }

    /** {@return the address for clients} */
    public URI address() {
        return URI.create("http://127.0.0.1:" + listener.getLocalPort());
    }

    public int port() {
        return port;
    }

    /**
     * Injects {@code fault} into the requests that match {@code which}, from the {@code first} to the {@code last} one.
     *
     * @param which the condition, which is tested with the method, path and query of a request, such as {@code GET
     *     /a?b}
     * @param first the number of the first such request, counted from 1
     */
    public void on(Predicate<String> which, int first, int last, Fault fault) {
        rules.add(new Rule(which, new AtomicInteger(), first, last, fault));
    }

    /** Sends all delayed requests and responses, and waits until all connections have ended. */
    public void release() throws InterruptedException {
        released.complete(null);
        while (!open.isEmpty()) {
            TimeUnit.MILLISECONDS.sleep(10);
        }
    }

    /** {@return the number of injected faults} */
    public int faults() {
        return done.get();
    }

    /** {@return the received requests, such as {@code GET /a?b}} */
    public List<String> requests() {
        return List.copyOf(requests);
    }

    private static void start(Runnable work) {
        Thread thread = new Thread(work, "fault proxy");
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket client = listener.accept();
                open.add(client);
                start(() -> serve(client));
            } catch (IOException e) {
                // the proxy was closed
            }
        }
    }

    private void serve(Socket client) {
        try (client) {
            InputStream in = new BufferedInputStream(client.getInputStream());
            String head = head(in);
            if (!head.isEmpty()) {
                String request = head.substring(0, head.indexOf(" HTTP/"));
                requests.add(request);
                serve(client, in, head, fault(request));
            }
        } catch (IOException e) {
            // the client or the server disconnected
        } finally {
            open.remove(client);
        }
    }

    private Fault fault(String request) {
        for (Rule rule : rules) {
            if (rule.which.test(request)) {
                int call = rule.calls.incrementAndGet();
                if (call >= rule.first && call <= rule.last) {
                    done.incrementAndGet();
                    return rule.fault;
                }
            }
        }
        return Fault.NONE;
    }

    private void serve(Socket client, InputStream in, String head, Fault fault) throws IOException {
        long length = contentLength(head);
        OutputStream out = client.getOutputStream();
        switch (fault) {
            case NONE -> {
                try (Socket server = connect()) {
                    server.getOutputStream().write(closing(head));
                    copy(in, server.getOutputStream(), length);
                    server.getInputStream().transferTo(out);
                }
            }
            case HANG -> released.join();
            case RESET -> {
                try (Socket server = connect()) {
                    server.getOutputStream().write(closing(head));
                    copy(in, server.getOutputStream(), length / 2);
                }
                client.setSoLinger(true, 0);
            }
            case NOT_FOUND -> reject(in, length, out, "404 Not Found", "NoSuchKey");
            case CONFLICT -> reject(in, length, out, "409 Conflict", "ConditionalRequestConflict");
            case PRECONDITION_FAILED -> reject(in, length, out, "412 Precondition Failed", "PreconditionFailed");
            case SERVER_ERROR -> reject(in, length, out, "500 Internal Server Error", "InternalError");
            case BUSY -> reject(in, length, out, "503 Service Unavailable", "SlowDown");
            case EXPIRED_TOKEN -> reject(in, length, out, "403 Forbidden", "ExpiredToken");
            case FORBIDDEN -> reject(in, length, out, "403 Forbidden", "AccessDenied");
            default -> {
                ByteArrayOutputStream request = new ByteArrayOutputStream();
                request.write(closing(head));
                copy(in, request, length);
                serveWhole(client, request.toByteArray(), length, fault);
            }
        }
    }

    private void serveWhole(Socket client, byte[] request, long length, Fault fault) throws IOException {
        OutputStream out = client.getOutputStream();
        if (fault == Fault.DAMAGED_BODY && length > 0) {
            request[request.length - 1] ^= 1;
        } else if (fault == Fault.LATE_REQUEST) {
            client.setSoLinger(true, 0);
            client.close();
            released.join();
            forward(request);
            return;
        }
        byte[] response = forward(request);
        int headLength = new String(response, StandardCharsets.ISO_8859_1).indexOf("\r\n\r\n") + 4;
        switch (fault) {
            case CUT_IN_HEAD -> out.write(response, 0, headLength / 2);
            case CUT_IN_BODY ->
                out.write(
                        response,
                        0,
                        response.length > headLength ? (headLength + response.length) / 2 : headLength - 2);
            case CUT_AFTER -> {
                out.write(response);
                out.flush();
                client.setSoLinger(true, 0);
            }
            case LOST_RESPONSE -> client.setSoLinger(true, 0);
            case SLOW -> {
                for (int i = 0; i < response.length; i += 50) {
                    out.write(response, i, Math.min(50, response.length - i));
                    out.flush();
                    sleep();
                }
            }
            case LATE_RESPONSE -> {
                released.join();
                out.write(response);
            }
            case DAMAGED_RESPONSE -> out.write(damaged(response, headLength));
            case ERROR_IN_200 -> respond(out, "200 OK", error("InternalError"));
            case EMPTY_200 -> respond(out, "200 OK", "");
            default -> out.write(response);
        }
        if (fault == Fault.DUPLICATE) {
            out.flush();
            client.shutdownOutput();
            released.join();
            forward(request);
        }
    }

    private static void sleep() {
        try {
            TimeUnit.MILLISECONDS.sleep(SLOW_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** {@return the response with changed letters and digits, but with intact framing; a chunked body is not changed} */
    private static byte[] damaged(byte[] response, int headLength) {
        StringBuilder changed = new StringBuilder();
        String text = new String(response, StandardCharsets.ISO_8859_1);
        for (String line : text.substring(0, headLength - 2).split("\r\n")) {
            boolean isFraming =
                    line.startsWith("HTTP") || line.matches("(?i)(content-length|transfer-encoding|connection):.*");
            changed.append(isFraming ? line : line.replace('a', 'b').replace('1', '2'))
                    .append("\r\n");
        }
        String body = text.substring(headLength);
        boolean isChunked =
                text.substring(0, headLength).toLowerCase(Locale.ROOT).contains("chunked");
        changed.append("\r\n").append(isChunked ? body : body.replace('a', 'b').replace('1', '2'));
        return changed.toString().getBytes(StandardCharsets.ISO_8859_1);
    }

    private Socket connect() throws IOException {
        return new Socket(InetAddress.getLoopbackAddress(), port);
    }

    private byte[] forward(byte[] request) throws IOException {
        try (Socket server = connect()) {
            server.getOutputStream().write(request);
            return server.getInputStream().readAllBytes();
        }
    }

    private static byte[] closing(String head) {
        String sent = head.replaceFirst("(?i)\r\nConnection: [^\r]*", "");
        return (sent.substring(0, sent.length() - 2) + "Connection: close\r\n\r\n")
                .getBytes(StandardCharsets.ISO_8859_1);
    }

    private static String error(String code) {
        return "<?xml version=\"1.0\"?><Error><Code>" + code + "</Code><Message>m</Message></Error>";
    }

    private void reject(InputStream in, long length, OutputStream out, String status, String code) throws IOException {
        copy(in, OutputStream.nullOutputStream(), length);
        respond(out, status, error(code));
    }

    private static void respond(OutputStream out, String status, String body) throws IOException {
        out.write(("HTTP/1.1 " + status + "\r\nContent-Type: application/xml\r\nContent-Length: " + body.length()
                        + "\r\nConnection: close\r\n\r\n" + body)
                .getBytes(StandardCharsets.ISO_8859_1));
        out.flush();
    }

    private static String head(InputStream in) throws IOException {
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        int last = 0;
        for (int b; last != 0x0D0A0D0A && (b = in.read()) >= 0; last = last << 8 | b) {
            head.write(b);
        }
        return head.toString(StandardCharsets.ISO_8859_1);
    }

    private static long contentLength(String head) {
        return Arrays.stream(head.split("\r\n"))
                .filter(line -> line.toLowerCase(Locale.ROOT).startsWith("content-length:"))
                .mapToLong(line -> Long.parseLong(line.substring(15).strip()))
                .findFirst()
                .orElse(0);
    }

    /** Waits until the next {@code count} bytes may be sent, in turn with the other connections. */
    private void keepRate(int count) {
        long until;
        synchronized (this) {
            busyUntil = Math.max(busyUntil, System.nanoTime()) + count * TimeUnit.SECONDS.toNanos(1) / bytesPerSecond;
            until = busyUntil;
        }
        LockSupport.parkNanos(until - System.nanoTime());
    }

    private void copy(InputStream in, OutputStream out, long length) throws IOException {
        byte[] bytes = new byte[64 << 10];
        for (long left = length; left > 0; ) {
            int count = in.read(bytes, 0, (int) Math.min(bytes.length, left));
            if (count < 0) {
                throw new IOException("the client disconnected");
            }
            keepRate(count);
            out.write(bytes, 0, count);
            left -= count;
        }
        out.flush();
    }

    @Override
    public void close() throws IOException {
        released.complete(null);
        listener.close();
        for (Socket client : open) {
            client.close();
        }
    }
}

package dev.sluice.testkit;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

/**
 * A proxy between an HTTP/1.1 client and a server on this machine that injects network and server faults into the n-th
 * request of a kind. Each connection carries one request, and bodies have a {@code Content-Length}.
 */
public final class FaultProxy implements Closeable {
    /** A fault injected into a request. */
    public interface Fault {}

    private enum Simple implements Fault {
        RESET,
        LOSE_ANSWER,
        HANG
    }

    private record Answer(int status, String body, boolean forwarded) implements Fault {}

    private record Late(CompletableFuture<?> until, boolean isDone, boolean isAbandoned) implements Fault {}

    /** The connection is reset after half of the body has reached the server. */
    public static final Fault RESET = Simple.RESET;

    /** The server handles the request, but the connection is reset instead of answering. */
    public static final Fault LOSE_ANSWER = Simple.LOSE_ANSWER;

    /** No answer, and nothing sent to the server, until the client disconnects or the proxy is closed. */
    public static final Fault HANG = Simple.HANG;

    /** {@return an answer instead of the server's, which does not receive the request} */
    public static Fault answer(int status, String body) {
        return new Answer(status, body, false);
    }

    /** {@return an answer instead of the server's, after the server has handled the request} */
    public static Fault answerAfter(int status, String body) {
        return new Answer(status, body, true);
    }

    /**
     * {@return a fault in which the server handles the request at once, but its answer is delayed; a client that has
     * disconnected does not receive it}
     *
     * @param until completed when the answer may be sent
     */
    public static Fault lateAnswer(CompletableFuture<?> until) {
        return new Late(until, true, false);
    }

    /**
     * {@return a fault in which the proxy reads the whole request but forwards it later, even if the client has
     * disconnected}
     *
     * @param until completed when the request may be forwarded
     */
    public static Fault lateRequest(CompletableFuture<?> until) {
        return new Late(until, false, false);
    }

    /**
     * {@return a fault that cuts off the client after the server has handled the request; the request is under way until its
     * answer is discarded}
     *
     * @param until completed when the answer may be discarded
     */
    public static Fault abandonedAnswer(CompletableFuture<?> until) {
        return new Late(until, true, true);
    }

    /**
     * {@return a fault that cuts off the client after it has sent the request, which the server receives later}
     *
     * @param until completed when the request may go to the server
     */
    public static Fault abandonedRequest(CompletableFuture<?> until) {
        return new Late(until, false, true);
    }

    private record Rule(Predicate<String> which, AtomicInteger calls, int first, int last, Fault fault) {}

    private final ServerSocket listener;
    private final int port;
    private final List<Rule> rules = new CopyOnWriteArrayList<>();
    private final List<String> requests = new CopyOnWriteArrayList<>();
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final AtomicInteger done = new AtomicInteger();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();

    /** Starts listening in front of the server at {@code port}. */
    public FaultProxy(int port) throws IOException {
        this.port = port;
        this.listener = new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
        start(this::accept);
    }

    /** {@return the address for clients} */
    public URI address() {
        return URI.create("http://127.0.0.1:" + listener.getLocalPort());
    }

    /**
     * Injects {@code fault} into the requests that match {@code which}, from the {@code first} to the {@code last} one.
     *
     * @param which tested with the method, path and query of a request, such as {@code GET /a?b}
     * @param first counted from 1
     */
    public void on(Predicate<String> which, int first, int last, Fault fault) {
        rules.add(new Rule(which, new AtomicInteger(), first, last, fault));
    }

    /** {@return the number of injected faults} */
    public int faults() {
        return done.get();
    }

    /** {@return the number of requests not yet answered or forwarded} */
    public int underWay() {
        return open.size();
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

    private Object fault(String request) {
        for (Rule rule : rules) {
            if (rule.which.test(request)) {
                int call = rule.calls.incrementAndGet();
                if (call >= rule.first && call <= rule.last) {
                    done.incrementAndGet();
                    return rule.fault;
                }
            }
        }
        return "none";
    }

    private void serve(Socket client, InputStream in, String head, Object fault) throws IOException {
        long length = contentLength(head);
        if (fault == HANG) {
            closed.join();
        } else if (fault instanceof Late late) {
            serveLate(client, in, head, length, late);
        } else if (fault instanceof Answer answer && !answer.forwarded) {
            copy(in, OutputStream.nullOutputStream(), length);
            answer(client.getOutputStream(), answer);
        } else {
            try (Socket server = new Socket(InetAddress.getLoopbackAddress(), port)) {
                OutputStream out = server.getOutputStream();
                out.write(closing(head));
                copy(in, out, fault == RESET ? length / 2 : length);
                if (fault != RESET) {
                    boolean passes = fault.equals("none");
                    server.getInputStream()
                            .transferTo(passes ? client.getOutputStream() : OutputStream.nullOutputStream());
                }
            }
            if (fault instanceof Answer answer) {
                answer(client.getOutputStream(), answer);
            } else if (fault == RESET || fault == LOSE_ANSWER) {
                client.setSoLinger(true, 0);
            }
        }
    }

    /** Sends the whole request to the server and reads the whole answer, even if the client disconnects meanwhile. */
    private void serveLate(Socket client, InputStream in, String head, long length, Late late) throws IOException {
        ByteArrayOutputStream request = new ByteArrayOutputStream();
        request.write(closing(head));
        copy(in, request, length);
        if (!late.isDone) {
            cut(client, late);
            CompletableFuture.anyOf(late.until, closed).join();
        }
        byte[] answer;
        try (Socket server = new Socket(InetAddress.getLoopbackAddress(), port)) {
            request.writeTo(server.getOutputStream());
            answer = server.getInputStream().readAllBytes();
        }
        cut(client, late);
        CompletableFuture.anyOf(late.until, closed).join();
        client.getOutputStream().write(answer);
    }

    private static void cut(Socket client, Late late) throws IOException {
        if (late.isAbandoned && !client.isClosed()) {
            client.setSoLinger(true, 0);
            client.close();
        }
    }

    private static byte[] closing(String head) {
        String sent = head.replaceFirst("(?i)\r\nConnection: [^\r]*", "");
        return (sent.substring(0, sent.length() - 2) + "Connection: close\r\n\r\n")
                .getBytes(StandardCharsets.ISO_8859_1);
    }

    private static void answer(OutputStream out, Answer answer) throws IOException {
        byte[] body = answer.body.getBytes(StandardCharsets.UTF_8);
        out.write(("HTTP/1.1 " + answer.status + " Fault\r\nContent-Type: application/xml\r\nContent-Length: "
                        + body.length + "\r\nConnection: close\r\n\r\n")
                .getBytes(StandardCharsets.ISO_8859_1));
        out.write(body);
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
        for (String line : head.split("\r\n")) {
            if (line.toLowerCase(Locale.ROOT).startsWith("content-length:")) {
                return Long.parseLong(line.substring(15).strip());
            }
        }
        return 0;
    }

    private static void copy(InputStream in, OutputStream out, long length) throws IOException {
        byte[] bytes = new byte[64 << 10];
        for (long left = length; left > 0; ) {
            int count = in.read(bytes, 0, (int) Math.min(bytes.length, left));
            if (count < 0) {
                throw new IOException("the client disconnected");
            }
            out.write(bytes, 0, count);
            left -= count;
        }
        out.flush();
    }

    @Override
    public void close() throws IOException {
        closed.complete(null);
        listener.close();
        for (Socket client : open) {
            client.close();
        }
    }
}

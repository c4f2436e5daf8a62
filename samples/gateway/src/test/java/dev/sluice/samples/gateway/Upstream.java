package dev.sluice.samples.gateway;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A server with one {@link Behaviour}, which records the requests. */
final class Upstream implements AutoCloseable {
    enum Behaviour {
        /** Reads the whole request and answers 200. */
        ACCEPT,
        /** As {@link #ACCEPT}, but sends two interim responses after the head. */
        HINT,
        /** Reads the whole request, and sends a line that is not an HTTP response. */
        BABBLE,
        /** Reads the whole request, and sends an interim response with a header section that is too large. */
        LONG_HINT,
        /** Reads the whole request, and switches to another protocol. */
        SWITCH,
        /** Responds with 403 after the head, and reads until the client stops. */
        REFUSE,
        /** Resets the connection after the head and {@link #resetAfter} bytes. */
        RESET,
        /** Reads the head and nothing else until the test ends. */
        STALL
    }

    /**
     * A request.
     *
     * @param body the body, without the chunked framing
     * @param complete whether the last chunk has arrived, without trailers
     */
    record Request(String head, byte[] body, boolean complete) {
        String header(String name) {
            return head.lines()
                    .filter(line -> line.toLowerCase(Locale.ROOT).startsWith(name + ":"))
                    .map(line -> line.substring(name.length() + 1).strip())
                    .findFirst()
                    .orElse("");
        }
    }

    private static final int PATIENCE_SECONDS = 120;
    private static final int MAX_CONNECTIONS = 10_000;

    private final ServerSocket server;
    private final Behaviour behaviour;
    private final BlockingQueue<Request> requests = new LinkedBlockingQueue<>();
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Semaphore connections = new Semaphore(MAX_CONNECTIONS);
    private volatile int resetAfter;

    Upstream(Behaviour behaviour) throws IOException {
        this.behaviour = behaviour;
        server = new ServerSocket();
        server.setReceiveBufferSize(64 << 10);
        server.bind(new java.net.InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        start(this::accept);
    }

    /** {@return an address at which no server listens} */
    static URI nowhere() throws IOException {
        try (Upstream gone = new Upstream(Behaviour.ACCEPT)) {
            return gone.uri();
        }
    }

    URI uri() {
        return URI.create("http://127.0.0.1:" + server.getLocalPort() + "/forms");
    }

    /** {@return the next request that has ended} */
    Request request() throws InterruptedException {
        Request next = requests.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
        assertNotNull(next, "no request has ended");
        return next;
    }

    void resetAfter(int bytes) {
        resetAfter = bytes;
    }

    /** Waits until no connection is open. {@return the requests that {@link #request} has not returned} */
    Stream<Request> awaitEnd() throws InterruptedException {
        assertTrue(
                connections.tryAcquire(MAX_CONNECTIONS, PATIENCE_SECONDS, TimeUnit.SECONDS), "a request has not ended");
        connections.release(MAX_CONNECTIONS);
        return requests.stream();
    }

    private static void start(Runnable task) {
        Thread thread = new Thread(task, "upstream");
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        try {
            while (true) {
                Socket socket = server.accept();
                connections.acquireUninterruptibly();
                start(() -> serve(socket));
            }
        } catch (IOException e) {
            // closed
        }
    }

    private void serve(Socket socket) {
        StringBuilder head = new StringBuilder();
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        boolean complete = false;
        try (socket) {
            InputStream in = socket.getInputStream();
            for (String line; !(line = line(in)).isEmpty(); ) {
                head.append(line).append('\n');
            }
            switch (behaviour) {
                case RESET -> {
                    in.readNBytes(resetAfter);
                    socket.setSoLinger(true, 0);
                    return;
                }
                case REFUSE -> answer(socket, "403 Forbidden", "not here");
                case STALL -> closed.await();
                case HINT ->
                    send(socket, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n");
                case ACCEPT, BABBLE, LONG_HINT, SWITCH -> {}
            }
            for (int size; (size = Integer.parseInt(line(in), 16)) > 0; line(in)) {
                byte[] chunk = in.readNBytes(size);
                body.writeBytes(chunk);
                if (chunk.length < size) {
                    throw new EOFException();
                }
            }
            complete = line(in).isEmpty(); // otherwise there are trailers
            switch (behaviour) {
                case BABBLE -> send(socket, "SSH-2.0-server\r\n\r\n");
                case LONG_HINT ->
                    send(socket, "HTTP/1.1 103 Early Hints\r\nLink: <" + "/".repeat(16 << 10) + ">\r\n\r\n");
                case SWITCH -> send(socket, "HTTP/1.1 101 Switching Protocols\r\n\r\n");
                case ACCEPT, HINT -> answer(socket, "200 OK", "received");
                default -> {} // it has answered
            }
        } catch (IOException | InterruptedException e) {
            // the request is incomplete
        } finally {
            if (!head.isEmpty()) {
                requests.add(new Request(head.toString(), body.toByteArray(), complete));
            }
            connections.release();
        }
    }

    private static void answer(Socket socket, String status, String text) throws IOException {
        send(
                socket,
                "HTTP/1.1 " + status + "\r\nContent-Type: text/plain\r\nContent-Length: " + text.length()
                        + "\r\nConnection: close\r\n\r\n" + text);
    }

    private static void send(Socket socket, String response) throws IOException {
        socket.getOutputStream().write(response.getBytes(StandardCharsets.US_ASCII));
        socket.getOutputStream().flush();
    }

    private static String line(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int b = in.read(); b != '\n'; b = in.read()) {
            if (b < 0) {
                throw new EOFException();
            } else if (b != '\r') {
                line.append((char) b);
            }
        }
        return line.toString();
    }

    @Override
    public void close() throws IOException {
        closed.countDown();
        server.close();
    }
}

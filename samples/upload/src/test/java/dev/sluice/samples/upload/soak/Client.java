package dev.sluice.samples.upload.soak;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** One connection, used for as long as the server keeps it, and then another one. HTTP by hand, with little work. */
final class Client implements AutoCloseable {
    private static final int MOST_LINE = 4096;
    private static final int PATIENCE_MILLIS = 60_000;

    /** The server closes what is idle for longer, and nothing tells whether it is just about to. */
    private static final long MOST_IDLE_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final int port;
    private final byte[] line = new byte[MOST_LINE];
    private Socket socket = new Socket();
    private InputStream in = InputStream.nullInputStream();
    private long connections;
    private long lastUsed;

    /** An answer and what is of interest in it. */
    record Answer(int status, String body) {}

    Client(int port) {
        this.port = port;
    }

    /** {@return how many connections it took so far} */
    long connections() {
        return connections;
    }

    private void connect() throws IOException {
        if (System.nanoTime() - lastUsed > MOST_IDLE_NANOS) {
            close();
        }
        if (!socket.isConnected() || socket.isClosed()) {
            socket = new Socket(InetAddress.getLoopbackAddress(), port);
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(PATIENCE_MILLIS);
            in = new BufferedInputStream(socket.getInputStream(), MOST_LINE);
            lastUsed = System.nanoTime();
            connections++;
        }
    }

    /** Sends a whole request. {@return its answer} */
    Answer exchange(byte[] request) throws IOException {
        connect();
        socket.getOutputStream().write(request);
        return answer();
    }

    /** Sends the start of a request and is gone. */
    void abort(byte[] request, int length, boolean reset) throws IOException {
        connect();
        socket.getOutputStream().write(request, 0, length);
        if (reset) {
            close();
        } else {
            socket.shutdownOutput();
            in.readAllBytes(); // the answer to half a request, if there is one
            close();
        }
    }

    String metrics() throws IOException {
        return exchange("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII))
                .body();
    }

    private Answer answer() throws IOException {
        int status = Integer.parseInt(line().substring(9, 12));
        int length = 0;
        boolean last = false;
        for (String header = line(); !header.isEmpty(); header = line()) {
            String field = header.toLowerCase(Locale.ROOT);
            if (field.startsWith("content-length:")) {
                length = Integer.parseInt(field.substring(15).strip());
            } else if (field.startsWith("connection:")) {
                last = field.endsWith("close");
            }
        }
        byte[] body = in.readNBytes(length);
        lastUsed = System.nanoTime();
        if (body.length < length) {
            throw new EOFException("the answer ends after " + body.length + " of " + length + " bytes");
        }
        if (last) {
            close();
        }
        return new Answer(status, new String(body, StandardCharsets.UTF_8));
    }

    private String line() throws IOException {
        int length = 0;
        for (int b = in.read(); b != '\n'; b = in.read()) {
            if (b < 0) {
                throw new EOFException("no answer, or the head of one");
            }
            line[length++] = (byte) b;
        }
        return new String(line, 0, Math.max(length - 1, 0), StandardCharsets.ISO_8859_1);
    }

    /** Closes with a reset: millions of connections that wait for their own end would use up the ports. */
    @Override
    public void close() throws IOException {
        if (socket.isConnected() && !socket.isClosed()) {
            socket.setSoLinger(true, 0);
        }
        socket.close();
    }
}

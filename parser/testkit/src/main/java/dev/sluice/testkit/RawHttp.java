package dev.sluice.testkit;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import javax.net.ssl.SSLContext;

/** A connection for HTTP/1.1 requests written by hand, for behaviour that client libraries do not offer. */
public final class RawHttp implements AutoCloseable {
    private static final int PATIENCE_MILLIS = 180_000;

    private final Socket socket;

    /** A response. The names of its headers are in lower case. */
    public record Response(int status, Map<String, String> headers, byte[] bytes) {
        public String body() {
            return new String(bytes, StandardCharsets.UTF_8);
        }
    }

    public RawHttp(int port) throws IOException {
        this(SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                .socket());
    }

    private RawHttp(Socket socket) throws IOException {
        this.socket = socket;
        socket.setSoTimeout(PATIENCE_MILLIS);
        socket.setTcpNoDelay(true);
    }

    /** {@return this connection, with TLS from now on} */
    public RawHttp secured(SSLContext tls) throws IOException {
        return new RawHttp(tls.getSocketFactory().createSocket(socket, "localhost", socket.getPort(), true));
    }

    public RawHttp send(String text) throws IOException {
        return send(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    public RawHttp send(byte[] bytes) throws IOException {
        return send(bytes, 0, bytes.length);
    }

    public RawHttp send(byte[] bytes, int from, int to) throws IOException {
        OutputStream out = socket.getOutputStream();
        out.write(bytes, from, to - from);
        out.flush();
        return this;
    }

    /** Half-closes the connection: nothing more is sent, but responses are still read. */
    public RawHttp sendEnd() throws IOException {
        socket.shutdownOutput();
        return this;
    }

    /** {@return the channel, for writing without waiting; null with TLS} */
    public SocketChannel channel() {
        return socket.getChannel();
    }

    public InputStream in() throws IOException {
        return socket.getInputStream();
    }

    /** {@return the next final response, skipping interim ones} */
    public Response response() throws IOException {
        Response response = anyResponse();
        while (response.status() < 200) {
            response = anyResponse();
        }
        return response;
    }

    /** {@return the next response, which may be an interim one} */
    public Response anyResponse() throws IOException {
        String statusLine = line();
        Map<String, String> headers = new TreeMap<>();
        for (String line = line(); !line.isEmpty(); line = line()) {
            int colon = line.indexOf(':');
            headers.merge(
                    line.substring(0, colon).toLowerCase(Locale.ROOT),
                    line.substring(colon + 1).strip(),
                    (one, two) -> one + ", " + two);
        }
        int status = Integer.parseInt(statusLine.substring(9, 12));
        byte[] body;
        if (status < 200) {
            body = new byte[0];
        } else if ("chunked".equalsIgnoreCase(headers.get("transfer-encoding"))) {
            body = chunked();
        } else if (headers.containsKey("content-length")) {
            body = bytes(Integer.parseInt(headers.get("content-length")));
        } else {
            body = in().readAllBytes();
        }
        return new Response(status, headers, body);
    }

    private byte[] chunked() throws IOException {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        for (int size = chunkSize(); size > 0; size = chunkSize()) {
            body.writeBytes(bytes(size));
            line();
        }
        line();
        return body.toByteArray();
    }

    private int chunkSize() throws IOException {
        return Integer.parseInt(line(), 16);
    }

    private byte[] bytes(int length) throws IOException {
        byte[] body = in().readNBytes(length);
        if (body.length < length) {
            throw new EOFException("the response ends after " + body.length + " of " + length + " bytes");
        }
        return body;
    }

    private String line() throws IOException {
        InputStream in = in();
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int b = in.read(); b != '\n'; b = in.read()) {
            if (b < 0) {
                throw new EOFException("the response ends within a line: '" + line + "'");
            }
            if (b != '\r') {
                line.write(b);
            }
        }
        return line.toString(StandardCharsets.ISO_8859_1);
    }

    /** {@return whether the server has closed the connection; waits for its end or for more bytes} */
    public boolean isAtEnd() throws IOException {
        return in().read() < 0;
    }

    /** Waits until the server has closed or reset the connection. */
    public void awaitEnd() throws IOException {
        try {
            in().readAllBytes();
        } catch (SocketException e) {
            return; // the connection was reset
        }
    }

    /** Resets the connection, as when a client is killed. */
    public void reset() throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}

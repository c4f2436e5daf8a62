package dev.sluice.servlet;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** A connection on which HTTP/1.1 is spoken by hand. */
final class RawClient implements AutoCloseable {
    private final Socket socket;

    /** An answer; the names of its headers are in lower case. */
    record Answer(int status, Map<String, String> headers, String body) {}

    RawClient(int port) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout(20_000);
        socket.setTcpNoDelay(true);
    }

    RawClient send(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
        socket.getOutputStream().flush();
        return this;
    }

    RawClient send(String text) throws IOException {
        return send(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Resets the connection. */
    void vanish() throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }

    Answer answer() throws IOException {
        InputStream in = socket.getInputStream();
        int status = Integer.parseInt(line(in).split(" ")[1]);
        Map<String, String> headers = new TreeMap<>();
        for (String line = line(in); !line.isEmpty(); line = line(in)) {
            int colon = line.indexOf(':');
            headers.put(
                    line.substring(0, colon).toLowerCase(Locale.ROOT),
                    line.substring(colon + 1).strip());
        }
        if (status < 200) {
            return answer();
        }
        return new Answer(status, headers, body(in, headers));
    }

    private static String body(InputStream in, Map<String, String> headers) throws IOException {
        StringBuilder body = new StringBuilder();
        if ("chunked".equals(headers.get("transfer-encoding"))) {
            for (int size = Integer.parseInt(line(in), 16); size > 0; size = Integer.parseInt(line(in), 16)) {
                body.append(new String(in.readNBytes(size), StandardCharsets.UTF_8));
                line(in);
            }
            line(in);
        } else {
            int length = Integer.parseInt(headers.getOrDefault("content-length", "0"));
            body.append(new String(in.readNBytes(length), StandardCharsets.UTF_8));
        }
        return body.toString();
    }

    /** {@return whether the server has closed the connection} */
    boolean isClosedByServer() throws IOException {
        try {
            return socket.getInputStream().read() < 0;
        } catch (SocketException e) {
            return true;
        }
    }

    private static String line(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int b = in.read(); b != '\n'; b = in.read()) {
            if (b < 0) {
                throw new EOFException("the connection ended within: " + line);
            }
            if (b != '\r') {
                line.append((char) b);
            }
        }
        return line.toString();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}

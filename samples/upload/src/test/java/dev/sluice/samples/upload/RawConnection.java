package dev.sluice.samples.upload;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** HTTP by hand, for what no client library would do. */
public final class RawConnection implements AutoCloseable {
    private final Socket socket;

    /** An answer; the names of its headers are in lower case. */
    public record Answer(int status, Map<String, String> headers, byte[] body) {
        public JsonNode json() throws IOException {
            return JsonMapper.builder().build().readTree(body);
        }
    }

    public RawConnection(int port) throws IOException {
        this.socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout(20_000);
        socket.setTcpNoDelay(true);
    }

    public RawConnection send(String text) throws IOException {
        return send(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    public RawConnection send(byte[] bytes) throws IOException {
        return send(bytes, bytes.length);
    }

    public RawConnection send(byte[] bytes, int length) throws IOException {
        OutputStream out = socket.getOutputStream();
        out.write(bytes, 0, length);
        out.flush();
        return this;
    }

    public void sendEnd() throws IOException {
        socket.shutdownOutput();
    }

    public Answer answer() throws IOException {
        String statusLine = line();
        Map<String, String> headers = new TreeMap<>();
        for (String line = line(); !line.isEmpty(); line = line()) {
            int colon = line.indexOf(':');
            headers.put(
                    line.substring(0, colon).toLowerCase(Locale.ROOT),
                    line.substring(colon + 1).strip());
        }
        int length = Integer.parseInt(headers.getOrDefault("content-length", "0"));
        byte[] body = socket.getInputStream().readNBytes(length);
        if (body.length < length) {
            throw new EOFException("the answer ends after " + body.length + " of " + length + " bytes");
        }
        return new Answer(Integer.parseInt(statusLine.substring(9, 12)), headers, body);
    }

    private String line() throws IOException {
        InputStream in = socket.getInputStream();
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int b = in.read(); b != '\n'; b = in.read()) {
            if (b < 0) {
                throw new EOFException("no answer, or the head of one: '" + line + "'");
            }
            if (b != '\r') {
                line.write(b);
            }
        }
        return line.toString(StandardCharsets.ISO_8859_1);
    }

    /** {@return whether the server has closed the connection, after waiting for it or for more bytes} */
    public boolean isAtEnd() throws IOException {
        return socket.getInputStream().read() < 0;
    }

    /** Breaks the connection off with a reset, as a client that is killed does. */
    void reset() throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}

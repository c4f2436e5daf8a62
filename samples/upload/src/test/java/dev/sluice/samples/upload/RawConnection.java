package dev.sluice.samples.upload;

import dev.sluice.samples.upload.clients.Answer;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;

/** HTTP by hand, for what no client library would do. */
public final class RawConnection implements AutoCloseable {
    private static final int PATIENCE_MILLIS = 60_000;

    private final Socket socket;
    private final InputStream in;

    public RawConnection(int port) throws IOException {
        this.socket = new Socket(InetAddress.getLoopbackAddress(), port);
        this.in = new BufferedInputStream(socket.getInputStream());
        socket.setSoTimeout(PATIENCE_MILLIS);
        socket.setTcpNoDelay(true);
    }

    public RawConnection send(String text) throws IOException {
        return send(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    public RawConnection send(byte[] bytes) throws IOException {
        return send(bytes, bytes.length);
    }

    public RawConnection send(byte[] bytes, int length) throws IOException {
        socket.getOutputStream().write(bytes, 0, length);
        return this;
    }

    public RawConnection sendEnd() throws IOException {
        socket.shutdownOutput();
        return this;
    }

    public Answer answer() throws IOException {
        String statusLine = line();
        Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        for (String line = line(); !line.isEmpty(); line = line()) {
            int colon = line.indexOf(':');
            headers.put(line.substring(0, colon), line.substring(colon + 1).strip());
        }
        int length = Integer.parseInt(headers.getOrDefault("content-length", "0"));
        byte[] body = in.readNBytes(length);
        if (body.length < length) {
            throw new EOFException("the answer ends after " + body.length + " of " + length + " bytes");
        }
        return new Answer(
                Integer.parseInt(statusLine.substring(9, 12)), headers, new String(body, StandardCharsets.UTF_8));
    }

    private String line() throws IOException {
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
        return in.read() < 0;
    }

    /** Waits until the server has closed the connection, whatever it says before. */
    public void skipToEnd() throws IOException {
        in.transferTo(OutputStream.nullOutputStream());
    }

    /** Breaks the connection off with a reset, as a client that is killed does. */
    public void reset() throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}

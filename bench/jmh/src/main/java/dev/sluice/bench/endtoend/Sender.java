package dev.sluice.bench.endtoend;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.bench.body.Body;
import dev.sluice.bench.body.Slice;
import dev.sluice.bench.body.Truth;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * Sends one body again and again over one connection, as fast as the server takes it, and reads the answers. The bytes lie
 * ready in direct memory, so the sender costs little more than the system calls. One thread.
 */
final class Sender implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int MAX_ANSWER = 16 << 10;

    private final SocketChannel channel;
    private final List<ByteBuffer> pieces = new ArrayList<>();
    private final ByteBuffer answer = ByteBuffer.allocate(MAX_ANSWER);

    Sender(int port, Body body) throws IOException {
        channel = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        String head = "POST /upload HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n"
                .formatted(body.contentType(), body.size());
        pieces.add(ByteBuffer.wrap(head.getBytes(StandardCharsets.US_ASCII)));
        // A generated body repeats one block of memory.
        Map<byte[], ByteBuffer> direct = new IdentityHashMap<>();
        for (Slice piece : body.cut(0)) {
            pieces.add(direct.computeIfAbsent(
                            piece.array(),
                            array -> ByteBuffer.allocateDirect(array.length).put(array))
                    .duplicate()
                    .position(piece.offset())
                    .limit(piece.offset() + piece.length())
                    .slice());
        }
    }

    /** Sends the body once and waits for the answer. */
    Truth send() throws IOException {
        for (ByteBuffer piece : pieces) {
            piece.rewind();
            while (piece.hasRemaining()) {
                channel.write(piece);
            }
        }
        return readAnswer();
    }

    private Truth readAnswer() throws IOException {
        answer.clear();
        for (; ; ) {
            if (channel.read(answer) < 0) {
                throw new EOFException("the server closed the connection: " + text());
            }
            String text = text();
            int blank = text.indexOf("\r\n\r\n");
            if (blank >= 0) {
                String json = text.substring(blank + 4);
                if (json.length() >= contentLength(text.substring(0, blank))) {
                    if (!text.startsWith("HTTP/1.1 200 ")) {
                        throw new IOException("the server answered: " + text);
                    }
                    return JSON.readValue(json, Truth.class);
                }
            }
        }
    }

    private String text() {
        return new String(answer.array(), 0, answer.position(), StandardCharsets.ISO_8859_1);
    }

    private static int contentLength(String head) throws IOException {
        for (String line : head.split("\r\n")) {
            if (line.regionMatches(true, 0, "content-length:", 0, 15)) {
                return Integer.parseInt(line.substring(15).strip());
            }
        }
        throw new IOException("an answer without Content-Length: " + head);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}

package dev.sluice.bench;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.bench.peer.Body;
import dev.sluice.bench.peer.Slice;
import dev.sluice.bench.peer.Truth;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A client that sends one body repeatedly over one connection, as fast as the server reads it. The bytes are prepared in direct memory,
 * so a request costs little more than the system calls. Not thread-safe.
 */
final class Sender implements AutoCloseable {
    /** A mapper that does not close the connection after it has read a response. */
    private static final ObjectMapper JSON = new ObjectMapper().disable(JsonParser.Feature.AUTO_CLOSE_SOURCE);

    private final SocketChannel channel;
    private final List<ByteBuffer> pieces = new ArrayList<>();
    private final BufferedReader responses;

    Sender(int port, String path, Body body) throws IOException {
        channel = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        responses = new BufferedReader(Channels.newReader(channel, StandardCharsets.ISO_8859_1));
        String head = "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n"
                .formatted(path, body.contentType(), body.size());
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

    /** Sends the body once and returns the response. */
    Truth send() throws IOException {
        for (ByteBuffer piece : pieces) {
            piece.rewind();
            while (piece.hasRemaining()) {
                channel.write(piece);
            }
        }
        String status = responses.readLine();
        if (status == null || !status.startsWith("HTTP/1.1 200 ")) {
            // Reads only the header section: the server may keep the connection open.
            throw new IOException("The server responded: " + status + "\n"
                    + responses.lines().takeWhile(line -> !line.isEmpty()).collect(Collectors.joining("\n")));
        }
        while (!responses.readLine().isEmpty()) {
            // skips the header fields
        }
        return JSON.readValue(responses, Truth.class);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}

package dev.sluice.samples.upload.soak;

import dev.sluice.samples.upload.clients.ServerResponse;
import dev.sluice.testkit.RawHttp;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A client that reuses its connection until the server closes it, and then opens another one. */
final class Client implements AutoCloseable {
    private static final byte[] METRICS =
            "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    /** Connections that were idle for longer are replaced, because the server may close them at any time. */
    private static final long MOST_IDLE_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final int port;
    private @Nullable RawHttp connection;
    private long connections;
    private long lastUsed;

    Client(int port) {
        this.port = port;
    }

    long connections() {
        return connections;
    }

    private RawHttp connected() throws IOException {
        RawHttp known = connection;
        if (known != null && System.nanoTime() - lastUsed <= MOST_IDLE_NANOS) {
            return known;
        }
        close();
        RawHttp made = new RawHttp(port);
        connection = made;
        connections++;
        return made;
    }

    /** Sends a complete request. {@return its response} */
    ServerResponse exchange(byte[] request) throws IOException {
        ServerResponse response = ServerResponse.on(connected().send(request));
        lastUsed = System.nanoTime();
        if ("close".equals(response.headers().get("connection"))) {
            close();
        }
        return response;
    }

    void abort(byte[] request, int length, boolean reset) throws IOException {
        RawHttp leaving = connected().send(request, 0, length);
        if (!reset) {
            leaving.sendEnd().awaitEnd(); // reads the response to the incomplete request, if there is one
        }
        close();
    }

    String metrics() throws IOException {
        return exchange(METRICS).text();
    }

    /** Closes with a reset. Millions of connections in TIME_WAIT would exhaust the ports. */
    @Override
    public void close() throws IOException {
        RawHttp known = connection;
        connection = null;
        if (known != null) {
            known.reset();
        }
    }
}

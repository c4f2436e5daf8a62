package dev.sluice.samples.upload.clients;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Keeps the bodies that are posted to it, byte for byte, without looking into them. */
final class CaptureServer implements AutoCloseable {
    /**
     * One request.
     *
     * @param contentType as in its header
     * @param body without the chunks of HTTP
     */
    record Captured(String contentType, byte[] body) {}

    private final HttpServer server;
    private final BlockingQueue<Captured> captured = new LinkedBlockingQueue<>();

    private CaptureServer(HttpServer server) {
        this.server = server;
    }

    static CaptureServer start() throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        CaptureServer capture = new CaptureServer(server);
        server.createContext("/", capture::handle);
        server.start();
        return capture;
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            byte[] body = exchange.getRequestBody().readAllBytes();
            if (exchange.getRequestMethod().equals("POST")) {
                captured.add(new Captured(exchange.getRequestHeaders().getFirst("Content-Type"), body));
            }
            byte[] page = "<!doctype html><meta charset=utf-8><title>capture</title>".getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "text/html");
            exchange.sendResponseHeaders(200, page.length);
            exchange.getResponseBody().write(page);
        }
    }

    URI uri() {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/");
    }

    /** {@return the next request that has not been taken yet} */
    Captured take() throws IOException, InterruptedException {
        Captured next = captured.poll(60, TimeUnit.SECONDS);
        if (next == null) {
            throw new IOException("nothing was posted");
        }
        return next;
    }

    @Override
    public void close() {
        server.stop(0);
    }
}

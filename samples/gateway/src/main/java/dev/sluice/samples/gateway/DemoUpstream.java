package dev.sluice.samples.gateway;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.sluice.MultipartReader;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;

/** A server to try the gateway with. Its response to a form is a list of its parts. */
final class DemoUpstream {
    private DemoUpstream() {}

    /** {@return the address of a new server, which runs until the process ends} */
    static URI start() throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newCachedThreadPool());
        server.createContext("/", DemoUpstream::respond);
        server.start();
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/");
    }

    private static void respond(HttpExchange exchange) throws IOException {
        StringBuilder parts = new StringBuilder("The upstream received:\n");
        try (exchange;
                MultipartReader reader = MultipartReader.create(
                        exchange.getRequestBody(), exchange.getRequestHeaders().getFirst("Content-Type"))) {
            for (MultipartReader.Part part; (part = reader.nextPart()) != null; ) {
                long size = part.transferTo(OutputStream.nullOutputStream());
                parts.append(part.name()).append(": ");
                parts.append(part.filename() == null ? "" : part.filename() + ", " + part.contentType() + ", ");
                parts.append(size).append(" bytes\n");
            }
            byte[] response = parts.toString().getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "text/plain; charset=utf-8");
            exchange.sendResponseHeaders(200, response.length);
            exchange.getResponseBody().write(response);
        }
    }
}

package dev.sluice.samples.upload.readme;

import com.sun.net.httpserver.HttpServer;
import dev.sluice.MultipartException;
import dev.sluice.form.FormPart;
import dev.sluice.form.Forms;
import dev.sluice.form.MultipartForm;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.UUID;
import java.util.concurrent.Executors;

/** The server at the start of the README, based on the JDK's HTTP server. */
final class WholeServer {
    private WholeServer() {}

    static HttpServer start(int port, Path directory) throws IOException {
        // @start region="server"
        Forms forms = Forms.open(); // one per process; the default limits suit production
        HttpServer server = HttpServer.create(new InetSocketAddress(port), 0);
        server.setExecutor(Executors.newCachedThreadPool()); // otherwise one slow client blocks all others
        server.createContext("/upload", exchange -> {
            int status = 201;
            String contentType = exchange.getRequestHeaders().getFirst("Content-Type"); // null is answered with 415
            try (MultipartForm form = forms.read(exchange.getRequestBody(), contentType)) {
                for (FormPart photo : form.files("photo")) { // empty if the user chose no file
                    photo.moveTo(directory.resolve(UUID.randomUUID() + ".jpg")); // close() deletes all others
                }
            } catch (MultipartException e) {
                status = e.httpStatus(); // 413 if too large, 400 if malformed
            }
            exchange.sendResponseHeaders(status, -1);
        });
        server.start();
        // @end
        return server;
    }
}

package dev.sluice.samples.upload.readme;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.form.Forms;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class UploadPipelineTest {
    private static final String BODY =
            "--x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\n\r\none\r\n--x--";

    @Test
    void pipeline_receivesForms_andPassesOtherRequests(@TempDir Path directory) throws Exception {
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        ExecutorService workers = Executors.newSingleThreadExecutor();
        try (Forms forms = Forms.open(directory, options -> options)) {
            int port = new UploadPipeline(forms, loops, workers).start().getPort();
            URI server = URI.create("http://localhost:" + port + "/");
            for (String path : List.of("upload", "upload?album=1")) {
                HttpRequest form = HttpRequest.newBuilder(server.resolve(path))
                        .header("Content-Type", "multipart/form-data; boundary=x")
                        .POST(HttpRequest.BodyPublishers.ofString(BODY))
                        .build();
                assertEquals("parts: 1", body(form), path);
            }
            assertEquals("a page", body(HttpRequest.newBuilder(server).build()));
        } finally {
            loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
            workers.shutdown();
        }
    }

    private static String body(HttpRequest request) throws IOException, InterruptedException {
        return HttpClient.newHttpClient()
                .send(request, HttpResponse.BodyHandlers.ofString())
                .body();
    }
}

package dev.sluice.samples.upload.clients;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** The JDK's HTTP client, for which the body is put together by hand; it goes out in chunks of 1,000 bytes. */
final class JavaHttpClient implements UploadClient {
    private static final int CHUNK = 1000;
    private static final String BOUNDARY = "made by hand (it's '1'):/=?";

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    @Override
    public String label() {
        return "java-http-client";
    }

    @Override
    public boolean isPresent() {
        return true;
    }

    @Override
    public Answer post(URI target, List<FormPart> form) throws IOException, InterruptedException {
        byte[] body = body(form);
        List<byte[]> chunks = IntStream.iterate(0, at -> at < body.length, at -> at + CHUNK)
                .mapToObj(at -> Arrays.copyOfRange(body, at, Math.min(body.length, at + CHUNK)))
                .toList();
        HttpRequest request = HttpRequest.newBuilder(target)
                .header("Content-Type", "multipart/form-data; boundary=\"" + BOUNDARY + '"')
                .POST(HttpRequest.BodyPublishers.ofByteArrays(chunks))
                .build();
        HttpResponse<String> response =
                client.send(request, HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
        return new Answer(response.statusCode(), response.body());
    }

    private static byte[] body(List<FormPart> form) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (FormPart part : form) {
            StringBuilder head =
                    new StringBuilder("--").append(BOUNDARY).append("\r\nContent-Disposition: form-data; name=");
            head.append(quoted(part.name()));
            if (part.isFile()) {
                head.append("; filename=").append(quoted(String.valueOf(part.filename())));
                head.append("\r\nContent-Type: ").append(part.type());
            }
            out.write(head.append("\r\n\r\n").toString().getBytes(StandardCharsets.UTF_8));
            out.write(part.content());
            out.write("\r\n".getBytes(StandardCharsets.US_ASCII));
        }
        out.write(("--" + BOUNDARY + "--\r\n").getBytes(StandardCharsets.US_ASCII));
        return out.toByteArray();
    }

    private static String quoted(String value) {
        return '"' + value.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    @Override
    public String onWire(String name) {
        return name;
    }
}

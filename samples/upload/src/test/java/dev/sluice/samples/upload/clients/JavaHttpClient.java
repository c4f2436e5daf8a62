package dev.sluice.samples.upload.clients;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/** The JDK's HTTP client, with a multipart body built by hand and sent in chunks of 1,000 bytes. */
public final class JavaHttpClient implements UploadClient {
    private static final int CHUNK = 1000;
    private static final String BOUNDARY = "made by hand (it's '1'):/=?";
    private static final HttpClient CLIENT =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    @Override
    public String label() {
        return "java-http-client";
    }

    public static ServerResponse send(HttpRequest request) throws IOException, InterruptedException {
        HttpResponse<String> response =
                CLIENT.send(request, HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
        Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        response.headers().map().forEach((name, values) -> headers.put(name, values.get(0)));
        return new ServerResponse(response.statusCode(), headers, response.body());
    }

    public static HttpRequest.Builder request(URI target, String contentType, BodyPublisher body) {
        return HttpRequest.newBuilder(target)
                .header("Content-Type", contentType)
                .POST(body);
    }

    public static ServerResponse post(URI target, String contentType, byte[] body)
            throws IOException, InterruptedException {
        return send(
                request(target, contentType, BodyPublishers.ofByteArray(body)).build());
    }

    public static ServerResponse get(URI target) throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder(target).build());
    }

    @Override
    public ServerResponse post(URI target, List<FormPart> form) throws IOException, InterruptedException {
        byte[] body = body(form);
        List<byte[]> chunks = IntStream.iterate(0, at -> at < body.length, at -> at + CHUNK)
                .mapToObj(at -> Arrays.copyOfRange(body, at, Math.min(body.length, at + CHUNK)))
                .toList();
        String type = "multipart/form-data; boundary=\"" + BOUNDARY + '"';
        return send(request(target, type, BodyPublishers.ofByteArrays(chunks)).build());
    }

    private static byte[] body(List<FormPart> form) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (FormPart part : form) {
            String head = "--" + BOUNDARY + "\r\nContent-Disposition: form-data; name=" + quoted(part.name());
            if (part.isFile()) {
                head += "; filename=" + quoted(part.filename()) + "\r\nContent-Type: " + part.type();
            }
            out.writeBytes((head + "\r\n\r\n").getBytes(StandardCharsets.UTF_8));
            out.writeBytes(part.content());
            out.writeBytes(new byte[] {'\r', '\n'});
        }
        out.writeBytes(("--" + BOUNDARY + "--\r\n").getBytes(StandardCharsets.US_ASCII));
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

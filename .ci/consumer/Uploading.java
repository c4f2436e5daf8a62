package org.example;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

/** A client that sends a form with a title and a file. */
final class Uploading {
    private Uploading() {}

    static void expect(URI to, int size, int status, String text) throws Exception {
        String body = "--B\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\none\r\n"
                + "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f.txt\"\r\n\r\n"
                + "x".repeat(size) + "\r\n--B--\r\n";
        HttpRequest request = HttpRequest.newBuilder(to)
                .header("Content-Type", "multipart/form-data; boundary=B")
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build();
        HttpResponse<String> answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() != status || !answer.body().contains(text)) {
            throw new AssertionError(answer.statusCode() + " " + answer.body());
        }
    }
}

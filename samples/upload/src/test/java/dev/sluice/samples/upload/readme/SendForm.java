package dev.sluice.samples.upload.readme;

import dev.sluice.MultipartBody;
import dev.sluice.MultipartEncoder;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.function.Consumer;

/** Writes forms. */
final class SendForm {
    private SendForm() {}

    static HttpResponse<Void> send(HttpClient client, URI uri, Path photo) throws IOException, InterruptedException {
        // @start region="send"
        MultipartBody body = MultipartBody.builder()
                .field("title", "Holiday")
                .file("photo", photo)
                .build();
        HttpRequest request = HttpRequest.newBuilder(uri)
                .header("Content-Type", body.contentType())
                .POST(body.publisher())
                .build();
        // @end
        return client.send(request, BodyHandlers.discarding());
    }

    /** {@return the Content-Type of the form} */
    static String encode(Iterator<ByteBuf> photo, Consumer<ByteBuf> out) throws IOException {
        // @start region="encode"
        MultipartEncoder encoder = MultipartEncoder.create();
        out.accept(encoder.beginPart("photo", "photo.jpg", "image/jpeg"));
        while (photo.hasNext()) {
            out.accept(encoder.write(photo.next())); // the same buffer
        }
        out.accept(encoder.finish());
        // @end
        return encoder.contentType();
    }
}

package dev.sluice.samples.upload.readme;

import dev.sluice.Content;
import dev.sluice.MultipartBody;
import dev.sluice.MultipartEncoder;
import dev.sluice.MultipartException;
import dev.sluice.PartHead.Header;
import dev.sluice.form.FormBodyHandler;
import dev.sluice.form.Forms;
import dev.sluice.form.MultipartForm;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

final class SendForm {
    private SendForm() {}

    static HttpResponse<String> send(URI uri, Path photo) throws IOException, InterruptedException {
        // @start region="send"
        MultipartBody body = MultipartBody.builder()
                .field("title", "Holiday")
                .file("photo", photo)
                .build();
        HttpRequest request = HttpRequest.newBuilder(uri)
                .header("Content-Type", body.contentType())
                .POST(body.publisher())
                .build();
        HttpResponse<String> response = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
        // @end
        return response;
    }

    static String receive(HttpClient client, HttpRequest request, Forms forms, Executor executor)
            throws IOException, InterruptedException {
        // @start region="receive"
        FormBodyHandler handler = FormBodyHandler.of(forms, forms.options(), executor);
        try (MultipartForm form = client.send(request, handler).body()) {
            return form.text("title") + ", " + form.file("photo").size() + " bytes";
        } catch (IOException failure) { // send wraps the exception of the form
            if (failure.getCause() instanceof MultipartException rejected) {
                return "rejected: " + rejected.reason();
            }
            throw failure;
        }
        // @end
    }

    interface Service {
        InputStream openLog() throws IOException;
    }

    static MultipartBody contents(byte[] thumbnail, Path video, Service service) throws IOException {
        // @start region="content"
        MultipartBody body = MultipartBody.builder()
                .field("meta", "application/json", Content.of("{\"album\": 7}"))
                .file("thumbnail", "small.png", "image/png", Content.of(thumbnail))
                .file("video", "clip.mp4", "video/mp4", Content.of(video))
                .file("log", "today.log", "text/plain", Content.stream(() -> service.openLog()))
                .build();
        // @end
        return body;
    }

    static MultipartBody replaced(Path photo) throws IOException {
        // @start region="names"
        MultipartBody body = MultipartBody.builder()
                .replaceNames() // "a;b.txt" is sent as "a_b.txt"
                .file("photo", photo)
                .build();
        // @end
        return body;
    }

    static MultipartBody related(byte[] image) {
        // @start region="related"
        MultipartBody body = MultipartBody.builder("related")
                .part(List.of(new Header("Content-Type", "application/json")), Content.of("{\"name\": \"a.png\"}"))
                .part(List.of(new Header("Content-Type", "image/png")), Content.of(image))
                .build();
        // @end
        return body;
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

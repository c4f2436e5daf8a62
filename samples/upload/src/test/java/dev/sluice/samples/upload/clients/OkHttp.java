package dev.sluice.samples.upload.clients;

import java.io.IOException;
import java.net.URI;
import java.util.List;
import okhttp3.MediaType;
import okhttp3.MultipartBody;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;

final class OkHttp implements UploadClient {
    private final OkHttpClient client = new OkHttpClient();

    @Override
    public String label() {
        return "okhttp";
    }

    @Override
    public ServerResponse post(URI target, List<FormPart> form) throws IOException {
        MultipartBody.Builder body = new MultipartBody.Builder().setType(MultipartBody.FORM);
        for (FormPart part : form) {
            if (part.isFile()) {
                body.addFormDataPart(
                        part.name(),
                        part.filename(),
                        RequestBody.create(part.content(), MediaType.get(String.valueOf(part.type()))));
            } else {
                body.addFormDataPart(part.name(), part.text());
            }
        }
        Request request =
                new Request.Builder().url(target.toString()).post(body.build()).build();
        try (Response response = client.newCall(request).execute()) {
            return new ServerResponse(response.code(), response.body().string());
        }
    }
}

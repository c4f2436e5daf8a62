package dev.sluice.samples.upload.clients;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import org.apache.hc.client5.http.classic.methods.HttpPost;
import org.apache.hc.client5.http.entity.mime.ByteArrayBody;
import org.apache.hc.client5.http.entity.mime.HttpMultipartMode;
import org.apache.hc.client5.http.entity.mime.MultipartEntityBuilder;
import org.apache.hc.client5.http.entity.mime.StringBody;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.core5.http.ContentType;
import org.apache.hc.core5.http.io.entity.EntityUtils;
import org.jspecify.annotations.Nullable;

/**
 * Apache HttpClient 5. Its LEGACY mode encodes names in the given charset and escapes quotes with backslashes. Its
 * EXTENDED mode percent-encodes file names and sends a Content-Type for each field.
 */
final class ApacheHttpClient implements UploadClient {
    private static final ContentType TEXT = ContentType.TEXT_PLAIN.withCharset(StandardCharsets.UTF_8);

    private final HttpMultipartMode mode;

    ApacheHttpClient(HttpMultipartMode mode) {
        this.mode = mode;
    }

    @Override
    public String label() {
        return "apache-httpclient5-" + mode.name().toLowerCase(Locale.ROOT);
    }

    @Override
    public boolean canSend(Form form) {
        // In EXTENDED mode, non-ASCII field names are sent in ISO-8859-1, whatever charset is set.
        return mode == HttpMultipartMode.LEGACY || form != Form.FIELDS;
    }

    @Override
    public ServerResponse post(URI target, List<FormPart> form) throws IOException {
        MultipartEntityBuilder body =
                MultipartEntityBuilder.create().setMode(mode).setCharset(StandardCharsets.UTF_8);
        for (FormPart part : form) {
            if (part.isFile()) {
                ContentType type = ContentType.parse(part.type());
                body.addPart(part.name(), new ByteArrayBody(part.content(), type, part.filename()));
            } else {
                body.addPart(part.name(), new StringBody(part.text(), TEXT));
            }
        }
        HttpPost request = new HttpPost(target);
        request.setEntity(body.build());
        try (CloseableHttpClient client = HttpClients.createMinimal()) {
            return client.execute(
                    request,
                    response -> new ServerResponse(
                            response.getCode(), EntityUtils.toString(response.getEntity(), StandardCharsets.UTF_8)));
        }
    }

    @Override
    public String onWire(String name) {
        return name;
    }

    @Override
    public @Nullable String rejectedWhenStrict(Form form) {
        return "UNKNOWN_CHARSET"; // both modes send charset=ISO-8859-1 in the Content-Type of the request
    }

    @Override
    public String filenameOnWire(String filename) {
        // Apache encodes like URLEncoder, but writes a space as %20.
        return mode == HttpMultipartMode.LEGACY
                ? filename
                : URLEncoder.encode(filename, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /** For a non-ASCII name there is also a filename*, which COMPATIBLE prefers. */
    @Override
    public String filenameAsRead(String filename, String preset) {
        boolean extended =
                mode == HttpMultipartMode.EXTENDED && !filename.chars().allMatch(c -> c < 0x80);
        return extended && preset.equals("compatible") ? filename : filenameOnWire(filename);
    }

    @Override
    public @Nullable String typeOnWire(FormPart part) {
        return part.isFile() ? part.type() : mode == HttpMultipartMode.LEGACY ? null : TEXT.toString();
    }
}

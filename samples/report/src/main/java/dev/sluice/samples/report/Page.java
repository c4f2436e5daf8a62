package dev.sluice.samples.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;

/** A web page in a single file, and the security policy that allows only its own script and style. */
public final class Page {
    private final byte[] html;
    private final String contentSecurityPolicy;

    private Page(String text) {
        this.html = text.getBytes(StandardCharsets.UTF_8);
        this.contentSecurityPolicy = "default-src 'none'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
                + "frame-ancestors 'none'; img-src data:; style-src " + hashOf(text, "style") + "; script-src "
                + hashOf(text, "script");
    }

    /** {@return the resource {@code page.html} next to {@code program}, with each {@code {{name}}} replaced by its value} */
    public static Page load(Class<?> program, Map<String, ?> values) {
        try (InputStream in = program.getResourceAsStream("page.html")) {
            if (in == null) {
                throw new IllegalStateException("page.html is missing from the program");
            }
            String html = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            for (Map.Entry<String, ?> value : values.entrySet()) {
                html = html.replace("{{" + value.getKey() + "}}", String.valueOf(value.getValue()));
            }
            return new Page(html);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String hashOf(String text, String element) {
        String open = "<" + element + ">";
        int from = text.indexOf(open) + open.length();
        int to = text.indexOf("</" + element + ">", from);
        byte[] source = text.substring(from, to).getBytes(StandardCharsets.UTF_8);
        return "'sha256-" + Base64.getEncoder().encodeToString(Digest.sha256().digest(source)) + "'";
    }

    /** {@return the address of the page, for a browser on the same machine as a server that listens on {@code host}} */
    public static URI address(boolean tls, String host, int port) {
        String shown = host.equals("0.0.0.0") || host.equals("::") || host.equals("127.0.0.1") ? "localhost" : host;
        return URI.create((tls ? "https://" : "http://") + (shown.indexOf(':') < 0 ? shown : "[" + shown + "]") + ":"
                + port + "/");
    }

    /** {@return the page in UTF-8; must not be modified} */
    public byte[] html() {
        return html;
    }

    public String contentSecurityPolicy() {
        return contentSecurityPolicy;
    }
}

package dev.sluice.samples.upload.clients;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** curl with {@code -F}. Its options are passed in a file, in which names are UTF-8 in every locale. */
public final class CurlClient implements UploadClient {
    private final Optional<Program> curl = Program.find("curl");

    @Override
    public String label() {
        return "curl";
    }

    @Override
    public boolean isPresent() {
        return curl.isPresent();
    }

    Program program() {
        return curl.orElseThrow();
    }

    @Override
    public ServerResponse post(URI target, List<FormPart> form) throws IOException, InterruptedException {
        return post(target, form, List.of()).response();
    }

    /**
     * The result of a request.
     *
     * @param response the response of the server
     * @param trace curl's output with {@code verbose}: lines that start with {@code >} or {@code <}
     */
    public record Traced(ServerResponse response, String trace) {}

    /** Sends the form with additional options, each in the syntax of curl's configuration file. */
    public Traced post(URI target, List<FormPart> form, List<String> options) throws IOException, InterruptedException {
        try (Scratch scratch = Scratch.create()) {
            List<String> all = new ArrayList<>(options);
            for (FormPart part : form) {
                all.add(option(part, scratch));
            }
            return send(target, all, scratch);
        }
    }

    public Traced postBytes(URI target, byte[] bytes, List<String> options) throws IOException, InterruptedException {
        try (Scratch scratch = Scratch.create()) {
            List<String> all = new ArrayList<>(options);
            all.add(option("data-binary", "@" + scratch.file(bytes)));
            return send(target, all, scratch);
        }
    }

    private Traced send(URI target, List<String> options, Scratch scratch) throws IOException, InterruptedException {
        Path body = scratch.file(new byte[0]);
        Program.Run run = program().run(command(configuration(target, body, options, scratch)), Map.of());
        if (run.exitCode() != 0) {
            throw new IOException("curl ended with " + run.exitCode() + ": " + run.err());
        }
        String text = new String(Files.readAllBytes(body), StandardCharsets.UTF_8);
        return new Traced(new ServerResponse(Integer.parseInt(run.out().strip()), text), run.err());
    }

    static List<String> command(Path configuration) {
        // -q ignores the user's own configuration.
        return List.of("-q", "--config", configuration.toString());
    }

    static Path configuration(URI target, Path body, List<String> options, Scratch scratch) throws IOException {
        List<String> lines = new ArrayList<>(List.of("silent", "show-error", "max-time = 100", "noproxy = \"*\""));
        lines.add(option("url", target.toString()));
        lines.add(option("output", body.toString()));
        lines.add(option("write-out", "%{http_code}"));
        lines.addAll(options);
        return scratch.file(String.join("\n", lines).getBytes(StandardCharsets.UTF_8));
    }

    static String option(FormPart part, Scratch scratch) throws IOException {
        if (!part.isFile()) {
            return option("form-string", part.name() + "=" + part.text());
        }
        String file = scratch.file(part.content()).toString();
        return option(
                "form",
                part.name() + "=@" + quoted(file) + ";type=" + part.type() + ";filename=" + quoted(part.filename()));
    }

    public static String option(String name, String value) {
        return name + " = " + quoted(value).replace("\r", "\\r").replace("\n", "\\n");
    }

    private static String quoted(String value) {
        return '"' + value.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }
}

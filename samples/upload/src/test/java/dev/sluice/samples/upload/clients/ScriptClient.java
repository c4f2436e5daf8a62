package dev.sluice.samples.upload.clients;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedWriter;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A client of another platform, run by a program in {@code src/test/clients}; the README there describes the calls. Its process is started
 * for the first form, and exits with this JVM.
 */
class ScriptClient implements UploadClient {
    private final String label;
    private final Optional<Program> interpreter;
    private final List<String> arguments;
    private @Nullable Process process;

    /** @param arguments the arguments of the program */
    ScriptClient(String label, Optional<Program> interpreter, String... arguments) {
        this.label = label;
        this.interpreter = interpreter;
        this.arguments = List.of(arguments);
    }

    /** {@return the absolute path of a program in {@code src/test/clients} of the module} */
    static String script(String name) {
        return Path.of("src", "test", "clients").resolve(name).toAbsolutePath().toString();
    }

    static ScriptClient node() {
        return new ScriptClient("node-fetch", Program.find("node", "nodejs"), script("node/upload.mjs"));
    }

    @Override
    public final String label() {
        return label;
    }

    @Override
    public boolean isPresent() throws IOException, InterruptedException {
        return interpreter.isPresent();
    }

    Program program() throws IOException, InterruptedException {
        return interpreter.orElseThrow();
    }

    @Override
    public final ServerResponse post(URI target, List<FormPart> form) throws IOException, InterruptedException {
        try (Scratch scratch = Scratch.create()) {
            ObjectNode job = ServerResponse.JSON.createObjectNode();
            job.put("client", label).put("url", target.toString());
            ArrayNode parts = job.putArray("parts");
            for (FormPart part : form) {
                ObjectNode node = parts.addObject().put("name", part.name());
                if (part.isFile()) {
                    node.put("filename", part.filename())
                            .put("type", part.type())
                            .put("file", scratch.file(part.content()).toString());
                } else {
                    node.put("text", part.text());
                }
            }
            String line = answer(scratch.file(ServerResponse.JSON.writeValueAsBytes(job)));
            JsonNode response = ServerResponse.JSON.readTree(line);
            return new ServerResponse(
                    response.path("status").asInt(), response.path("body").asText());
        }
    }

    private String answer(Path job) throws IOException, InterruptedException {
        Path errors = Path.of("target", "clients", label + ".err").toAbsolutePath();
        if (process == null || !process.isAlive()) {
            Files.createDirectories(errors.getParent());
            process = program()
                    .builder(arguments, Map.of("PYTHONDONTWRITEBYTECODE", "1"))
                    .redirectError(errors.toFile())
                    .start();
        }
        CompletableFuture<Void> late = CompletableFuture.runAsync(
                process::destroyForcibly, CompletableFuture.delayedExecutor(Program.MAX_SECONDS, TimeUnit.SECONDS));
        try {
            BufferedWriter jobs = process.outputWriter(StandardCharsets.UTF_8);
            jobs.write(job + "\n");
            jobs.flush();
            String line = process.inputReader(StandardCharsets.UTF_8).readLine();
            if (line == null) {
                throw new IOException(label + " failed: " + Files.readString(errors));
            }
            return line;
        } finally {
            late.cancel(false);
        }
    }
}

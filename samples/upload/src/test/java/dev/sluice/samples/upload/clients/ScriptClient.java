package dev.sluice.samples.upload.clients;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A client of another platform, run by a program in {@code src/test/clients}; the README there describes the calls. */
class ScriptClient implements UploadClient {
    private final String label;
    private final Optional<Program> interpreter;
    private final List<String> arguments;

    /** @param arguments the arguments before the job file */
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
            List<String> all = new ArrayList<>(arguments);
            all.add(scratch.file(ServerResponse.JSON.writeValueAsBytes(job)).toString());
            Program.Run run = program().run(all, Map.of("PYTHONDONTWRITEBYTECODE", "1"));
            if (run.exitCode() != 0) {
                throw new IOException(label + " failed: " + run.err());
            }
            JsonNode response = ServerResponse.JSON.readTree(run.out());
            return new ServerResponse(
                    response.path("status").asInt(), response.path("body").asText());
        }
    }
}

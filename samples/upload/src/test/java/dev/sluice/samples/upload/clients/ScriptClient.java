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

/** A client of another platform, behind one of the programs in {@code src/test/clients}; how they are called is said there. */
abstract class ScriptClient implements UploadClient {
    /** Where the programs are; the tests of a module run in its directory. */
    static final Path PROGRAMS = Path.of("src", "test", "clients").toAbsolutePath();

    private final String label;

    ScriptClient(String label) {
        this.label = label;
    }

    @Override
    public final String label() {
        return label;
    }

    /** Runs the program, with the job's file as its last argument. */
    abstract Program.Run run(Path job) throws IOException, InterruptedException;

    @Override
    public final Answer post(URI target, List<FormPart> form) throws IOException, InterruptedException {
        try (Scratch scratch = Scratch.create()) {
            ObjectNode job = Answer.JSON.createObjectNode();
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
            Program.Run run = run(scratch.file(Answer.JSON.writeValueAsBytes(job)));
            if (run.exitCode() != 0) {
                throw new IOException(label + " failed: " + run.err());
            }
            JsonNode answer = Answer.JSON.readTree(run.out());
            return new Answer(answer.path("status").asInt(), answer.path("body").asText());
        }
    }

    static Program.Run run(Program program, List<String> arguments, Path job) throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(arguments);
        all.add(job.toString());
        return program.run(all, Map.of("PYTHONDONTWRITEBYTECODE", "1"));
    }
}

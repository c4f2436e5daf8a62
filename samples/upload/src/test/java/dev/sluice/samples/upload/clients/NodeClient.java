package dev.sluice.samples.upload.clients;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Node's own {@code fetch} with {@code FormData}. */
final class NodeClient extends ScriptClient {
    private static final String PROGRAM = PROGRAMS.resolve("node/upload.mjs").toString();

    private final Optional<Program> node = Program.find("node", "nodejs");

    NodeClient() {
        super("node-fetch");
    }

    @Override
    public boolean isPresent() {
        return node.isPresent();
    }

    @Override
    Program.Run run(Path job) throws IOException, InterruptedException {
        return run(node.orElseThrow(), List.of(PROGRAM), job);
    }

    @Override
    public String onWire(String name) {
        return UploadClient.percentQuotes(name);
    }
}

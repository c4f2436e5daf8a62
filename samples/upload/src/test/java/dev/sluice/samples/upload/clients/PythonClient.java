package dev.sluice.samples.upload.clients;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A Python package: requests, httpx or aiohttp. {@code SLUICE_PYTHON} names the interpreter that has them. */
final class PythonClient extends ScriptClient {
    private static final String PROGRAM = PROGRAMS.resolve("python/upload.py").toString();

    private final Optional<Program> python =
            Program.find(System.getenv().getOrDefault("SLUICE_PYTHON", "python3"), "python3");
    private final boolean typesFields;

    private PythonClient(String label, boolean typesFields) {
        super(label);
        this.typesFields = typesFields;
    }

    static List<UploadClient> all() {
        return List.of(
                new PythonClient("requests", false),
                new PythonClient("httpx", false),
                new PythonClient("aiohttp", true));
    }

    @Override
    public boolean isPresent() throws IOException, InterruptedException {
        return python.isPresent() && python.get().run("-c", "import " + label()).exitCode() == 0;
    }

    @Override
    Program.Run run(Path job) throws IOException, InterruptedException {
        return run(python.orElseThrow(), List.of(PROGRAM), job);
    }

    @Override
    public String onWire(String name) {
        return label().equals("aiohttp") ? name : UploadClient.percentQuotes(name);
    }

    @Override
    public @Nullable String typeOnWire(FormPart part) {
        return typesFields && !part.isFile() ? "text/plain; charset=utf-8" : part.type();
    }
}

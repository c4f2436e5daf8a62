package dev.sluice.samples.upload.clients;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A Python package: requests, httpx or aiohttp. {@code SLUICE_PYTHON} names the interpreter with these packages. */
final class PythonClient extends ScriptClient {
    private final boolean aiohttp;

    private PythonClient(String label) {
        super(
                label,
                Program.find(System.getenv().getOrDefault("SLUICE_PYTHON", "python3"), "python3"),
                script("python/upload.py"));
        this.aiohttp = label.equals("aiohttp");
    }

    static List<PythonClient> all() {
        return List.of(new PythonClient("requests"), new PythonClient("httpx"), new PythonClient("aiohttp"));
    }

    @Override
    public boolean isPresent() throws IOException, InterruptedException {
        return super.isPresent() && program().run("-c", "import " + label()).exitCode() == 0;
    }

    @Override
    public String onWire(String name) {
        return aiohttp ? name : super.onWire(name);
    }

    @Override
    public @Nullable String typeOnWire(FormPart part) {
        return aiohttp && !part.isFile() ? "text/plain; charset=utf-8" : part.type();
    }
}

package dev.sluice.samples.upload.clients;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Go's {@code mime/multipart}, streamed by {@code net/http}. The program is compiled on first use. */
final class GoClient extends ScriptClient {
    private @Nullable Program upload;

    GoClient() {
        super("go", Program.find("go", "/usr/local/go/bin/go", "/usr/lib/go/bin/go"));
    }

    @Override
    Program program() throws IOException, InterruptedException {
        if (upload == null) {
            Path target = Path.of("target", "clients", "go-upload").toAbsolutePath();
            Files.createDirectories(target.getParent());
            Program.Run build = super.program().run("build", "-o", target.toString(), script("go/upload.go"));
            upload = Program.find(target.toString()).orElseThrow(() -> new IOException(build.err()));
        }
        return upload;
    }

    @Override
    public String onWire(String name) {
        return name;
    }

    @Override
    public @Nullable String typeOnWire(FormPart part) {
        // CreateFormFile gives every file this type.
        return part.isFile() ? "application/octet-stream" : null;
    }
}

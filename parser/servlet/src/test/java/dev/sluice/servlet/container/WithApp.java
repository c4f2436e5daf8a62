package dev.sluice.servlet.container;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Tests with an application each, of which nothing is left in the end. */
public abstract class WithApp {
    @TempDir
    protected Path directory;

    protected App app;

    @BeforeEach
    void open() throws IOException {
        app = new App(directory);
    }

    @AfterEach
    void close() throws IOException {
        app.close();
    }
}

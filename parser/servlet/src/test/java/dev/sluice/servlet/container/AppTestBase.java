package dev.sluice.servlet.container;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A base class for tests with one {@link App} each. After each test, all files and memory must be released. */
public abstract class AppTestBase {
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

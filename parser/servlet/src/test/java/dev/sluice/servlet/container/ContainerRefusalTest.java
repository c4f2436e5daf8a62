package dev.sluice.servlet.container;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.servlet.MultipartFilter;
import jakarta.servlet.DispatcherType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A form that is refused is answered, and at once, also where the request has become asynchronous before. */
@Timeout(15)
class ContainerRefusalTest {
    private static final Form FORM = new Form().field("a", "1").field("b", "2");

    @TempDir
    Path directory;

    private final WorkServlet servlet = new WorkServlet();
    private Store store;

    @BeforeEach
    void open() throws IOException {
        store = new Store(Files.createDirectory(directory.resolve("spool")));
    }

    @AfterEach
    void close() throws IOException {
        store.close();
    }

    private void assertRefused(ServletContainer kind, WorkServlet.Work work) throws Exception {
        servlet.at("/work", work);
        MultipartFilter filter = MultipartFilter.of(store.options().maxParts(1).build());
        WebApp app = new WebApp(Files.createDirectory(directory.resolve("container")))
                .servlet("/app/*", servlet)
                .filter("/app/*", filter, DispatcherType.ASYNC);
        try (RunningContainer container = kind.start(app);
                RawHttp connection = container.connect()) {
            assertEquals(413, connection.send(FORM.post("/app/work")).answer().status());
            store.assertEmpty(kind);
            Eventually.isTrue(() -> filter.live() == 0, () -> kind + " does not say that the request is over");
        }
    }

    @ParameterizedTest
    @EnumSource
    void aRequestThatBecameAsynchronousBefore(ServletContainer kind) throws Exception {
        assertRefused(kind, (request, response) -> {
            request.startAsync().setTimeout(0);
            request.getParts();
        });
    }

    @ParameterizedTest
    @EnumSource
    void aDispatchOfTheRequestItself(ServletContainer kind) throws Exception {
        assertRefused(kind, (request, response) -> {
            if (request.getDispatcherType() == DispatcherType.ASYNC) {
                request.getParts();
            } else {
                request.startAsync().dispatch();
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void aDispatchOfTheRequestAsTheServletSawIt(ServletContainer kind) throws Exception {
        assertRefused(kind, (request, response) -> {
            if (request.getDispatcherType() == DispatcherType.ASYNC) {
                request.getParts();
            } else {
                request.startAsync(request, response).dispatch();
            }
        });
    }
}

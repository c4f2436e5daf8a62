package dev.sluice.servlet.container;

import dev.sluice.servlet.SluiceFilter;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.MultipartConfigElement;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A container with the same servlet at four paths. Each path has one set-up: the container's multipart support, the
 * filter for the usual dispatcher types, the filter for all dispatcher types, or both the filter and the container's
 * support.
 */
final class ComparedApp implements AutoCloseable {
    static final String OWN = "/own";

    private static final int MAX_PART = 512 << 10;
    private static final int MAX_BODY = 1 << 20;
    private static final int THRESHOLD = 1 << 10;

    private final RunningContainer container;
    private final Store store;
    private final Map<String, WorkServlet> servlets = new LinkedHashMap<>();
    private final Map<String, Path> locations = new LinkedHashMap<>();

    private ComparedApp(ServletContainer kind, Path directory) throws Exception {
        this.store = new Store(Files.createDirectory(directory.resolve("spool")));
        WebApp app = new WebApp(Files.createDirectory(directory.resolve("container")));
        for (String mount : List.of(OWN, "/filter", "/every", "/both")) {
            servlets.put(mount, new WorkServlet());
            locations.put(mount, Files.createDirectory(directory.resolve(mount.substring(1))));
        }
        app.servlet(OWN + "/*", servlets.get(OWN), multipartConfig(OWN));
        app.servlet("/filter/*", servlets.get("/filter")).filter("/filter/*", filter("/filter"), DispatcherType.ASYNC);
        app.servlet("/every/*", servlets.get("/every")).filter("/every/*", filter("/every"), DispatcherType.values());
        app.servlet("/both/*", servlets.get("/both"), multipartConfig("/both"))
                .filter("/both/*", filter("/both"), DispatcherType.ASYNC);
        app.servlet("/error", errorPage()).errorPage("/error");
        this.container = kind.start(app);
    }

    static ComparedApp start(ServletContainer kind, Path directory) throws Exception {
        return new ComparedApp(kind, directory);
    }

    private MultipartConfigElement multipartConfig(String mount) {
        return new MultipartConfigElement(locations.get(mount).toString(), MAX_PART, MAX_BODY, THRESHOLD);
    }

    private SluiceFilter filter(String mount) {
        return SluiceFilter.builder(store.options()
                        .maxPartBytes(MAX_PART)
                        .maxBodyBytes(MAX_BODY)
                        .spillThreshold(THRESHOLD)
                        .build())
                .location(locations.get(mount))
                .build();
    }

    /** {@return the paths of the servlets that the filter serves, for this question} */
    static List<String> filtered(Question question) {
        return question.isAlsoInFrontOfOwn() ? List.of("/filter", "/every", "/both") : List.of("/filter", "/every");
    }

    private static WorkServlet errorPage() {
        return new WorkServlet()
                .at(
                        "/",
                        (request, response) -> response.getWriter()
                                .write("error page " + request.getAttribute("jakarta.servlet.error.status_code") + " "
                                        + request.getAttribute("jakarta.servlet.error.message") + ", "
                                        + CallResults.attempt(() -> CallResults.parameters(request))));
    }

    /**
     * {@return the response of the servlet at {@code mount}} If the filter serves it, this method waits until the
     * resources of the request are released.
     */
    String answer(Question question, String mount) throws IOException {
        String response = question.put(container, mount, servlets.get(mount), locations.get(mount));
        if (!mount.equals(OWN)) {
            store.assertEmpty(container.kind() + mount + ": " + question);
        }
        return response;
    }

    @Override
    public void close() throws IOException {
        container.close();
        store.close();
    }
}

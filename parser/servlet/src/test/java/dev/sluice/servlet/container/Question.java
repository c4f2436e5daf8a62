package dev.sluice.servlet.container;

import dev.sluice.testkit.RawHttp;
import dev.sluice.testkit.TestForm;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

/**
 * One question to the multipart support of the container and to the filter: the conversation of a client, and the code
 * of the servlet. {@code servlet-containers.md} lists the expected answers under the title of the question.
 */
final class Question {
    /** The code of the servlet, which returns the response. The container handles its exceptions. */
    interface Ask {
        String ask(HttpServletRequest request, Path location) throws Exception;
    }

    /** The code of a servlet that does not use files. */
    interface AskWithoutFiles {
        String of(HttpServletRequest request) throws Exception;
    }

    /** The conversation of the client with the servlet at {@code path}. */
    interface Dialog {
        String hold(RawHttp connection, String path) throws IOException;
    }

    private static final String RESPONSE = Question.class.getName() + ".response";

    private final String title;
    private final Map<String, Ask> asks = new LinkedHashMap<>();
    private Dialog dialog = (connection, path) -> "";
    private boolean alsoInFrontOfOwn = true;

    private Question(String title) {
        this.title = title;
    }

    static Question that(String title) {
        return new Question(title);
    }

    /** The client sends {@code form} with POST and waits for the response. */
    Question sends(TestForm form) {
        return sends(path -> form.post(path));
    }

    /** The client sends a request and waits for the response. */
    Question sends(Function<String, byte[]> request) {
        return holds((connection, path) ->
                describe(connection.send(request.apply(path)).response()));
    }

    Question holds(Dialog dialog) {
        this.dialog = dialog;
        return this;
    }

    Question asks(AskWithoutFiles ask) {
        return asks((request, location) -> ask.of(request));
    }

    /** Sets the code of the servlet, which also receives the location of its files. */
    Question asks(Ask ask) {
        asks.put("", ask);
        return this;
    }

    /** Sets the code of the servlet at the target of a dispatch. */
    Question asksAt(String subPath, AskWithoutFiles ask) {
        asks.put(subPath, (request, location) -> ask.of(request));
        return this;
    }

    /**
     * Skips the servlet that has both the filter and a multipart configuration, because the container changes the response of that servlet.
     */
    Question withoutContainerConfiguration() {
        this.alsoInFrontOfOwn = false;
        return this;
    }

    boolean isAlsoInFrontOfOwn() {
        return alsoInFrontOfOwn;
    }

    String title() {
        return title;
    }

    /**
     * Asks the servlet at {@code mount}.
     *
     * @return the response
     */
    String put(RunningContainer container, String mount, WorkServlet servlet, Path location) throws IOException {
        asks.forEach((subPath, ask) -> servlet.at("/ask" + subPath, work(ask, location)));
        try (RawHttp connection = container.connect()) {
            return dialog.hold(connection, mount + "/ask");
        } catch (EOFException | SocketException e) {
            return "no answer";
        }
    }

    private static Work work(Ask ask, Path location) {
        return (request, response) -> {
            request.setAttribute(RESPONSE, response);
            say(response, ask.ask(request, location));
        };
    }

    /** {@return the response to {@code request}; only for use in {@link Ask#ask}} */
    static HttpServletResponse response(HttpServletRequest request) {
        return (HttpServletResponse) request.getAttribute(RESPONSE);
    }

    private static void say(HttpServletResponse response, String answer) throws IOException {
        if (answer.isEmpty()) {
            return;
        }
        response.setContentType("text/plain;charset=UTF-8");
        response.getOutputStream().write(answer.getBytes(StandardCharsets.UTF_8));
    }

    /** {@return the body of a response with status 200, otherwise the status} */
    static String describe(RawHttp.Response response) {
        return response.status() == 200 ? response.body() : "status " + response.status();
    }

    /** {@return whether the servlet accepted the request; a client that stopped early may read no response} */
    static String acceptedOrNot(RawHttp connection) throws IOException {
        try {
            return connection.response().status() == 200 ? "accepted" : "refused";
        } catch (EOFException | SocketException e) {
            return "refused";
        }
    }

    @Override
    public String toString() {
        return title;
    }
}

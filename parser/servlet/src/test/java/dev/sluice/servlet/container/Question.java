package dev.sluice.servlet.container;

import dev.sluice.servlet.Form;
import dev.sluice.testkit.RawHttp;
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
 * One question to the container's own multipart support and to the filter: a conversation of a client, and what the
 * servlet does with the request. What the filter has to answer stands under its title in the page.
 */
final class Question {
    /** What the servlet does; what it returns is the answer, what it throws goes to the container. */
    interface Ask {
        String ask(HttpServletRequest request, Path location) throws Exception;
    }

    /** The same, without a look at files. */
    interface Said {
        String of(HttpServletRequest request) throws Exception;
    }

    /** What the client does; {@code path} is the one of the servlet. */
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

    /** The client sends {@code form} with POST and waits for the answer. */
    Question sends(Form form) {
        return sends(path -> form.post(path));
    }

    /** The client sends a request and waits for the answer. */
    Question sends(Function<String, byte[]> request) {
        return holds((connection, path) ->
                describe(connection.send(request.apply(path)).answer()));
    }

    Question holds(Dialog dialog) {
        this.dialog = dialog;
        return this;
    }

    /** What the servlet does with the request, wherever it writes files to. */
    Question asks(Said ask) {
        return asks((request, location) -> ask.of(request));
    }

    /** What the servlet does with the request to {@code path}. */
    Question asks(Ask ask) {
        asks.put("", ask);
        return this;
    }

    /** What the servlet does where the request is dispatched to. */
    Question asksAt(String subPath, Said ask) {
        asks.put(subPath, (request, location) -> ask.of(request));
        return this;
    }

    /** Not for the filter where the servlet has a configuration of its own too: there the container has a say in it. */
    Question whereTheContainerHasNoSay() {
        this.alsoInFrontOfOwn = false;
        return this;
    }

    boolean isAlsoInFrontOfOwn() {
        return alsoInFrontOfOwn;
    }

    String title() {
        return title;
    }

    /** Asks on {@code mount}, where {@code servlet} sits, and {@return the answer} */
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

    /** {@return the response to {@code request}, within {@link Ask#ask}} */
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

    /** {@return the body of a good answer, the status of any other} */
    static String describe(RawHttp.Answer answer) {
        return answer.status() == 200 ? answer.body() : "status " + answer.status();
    }

    /** {@return whether the servlet accepted the request; what a client that broke off reads is a matter of luck} */
    static String acceptedOrNot(RawHttp connection) throws IOException {
        try {
            return connection.answer().status() == 200 ? "accepted" : "refused";
        } catch (EOFException | SocketException e) {
            return "refused";
        }
    }

    @Override
    public String toString() {
        return title;
    }
}

package dev.sluice.servlet.container;

import dev.sluice.testkit.TestForm;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.http.HttpServletRequest;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Questions about the requests that are parsed, access to their bodies, connections, and dispatches. */
final class RequestQuestions {
    private static final String PARTS = "/parts";

    private RequestQuestions() {}

    static List<Question> all() {
        return java.util.stream.Stream.of(methods(), bodies(), transport(), dispatches())
                .flatMap(List::stream)
                .toList();
    }

    private static String partsOrNot(HttpServletRequest request) {
        return CallResults.attempt(() -> CallResults.parts(request));
    }

    private static Question method(String method) {
        return Question.that("a form sent with " + method)
                .sends(path -> TestForm.request(
                        method,
                        path + "?q=0",
                        TestForm.CONTENT_TYPE,
                        new TestForm().field("a", "1").body()))
                .asks(request ->
                        partsOrNot(request) + ", " + CallResults.attempt(() -> CallResults.parameters(request)));
    }

    private static Question unparsed(String method) {
        return Question.that("getParts of a form sent with " + method)
                .sends(path -> TestForm.request(
                        method,
                        path,
                        TestForm.CONTENT_TYPE,
                        new TestForm().field("a", "1").body()))
                .asks(request -> CallResults.orRejected(() -> CallResults.parts(request)));
    }

    private static Question type(String title, String contentType, String body) {
        return Question.that(title)
                .sends(path -> TestForm.request("POST", path, contentType, body.getBytes(StandardCharsets.US_ASCII)));
    }

    private static List<Question> methods() {
        String form = new String(new TestForm().field("a", "1").body(), StandardCharsets.US_ASCII);
        return List.of(
                method("PUT"),
                method("PATCH"),
                unparsed("GET"),
                unparsed("DELETE"),
                type("parameters of a URL-encoded body", "application/x-www-form-urlencoded", "a=1&b=2")
                        .asks(request -> CallResults.parameters(request)),
                type("getParts of a URL-encoded body", "application/x-www-form-urlencoded", "a=1&b=2")
                        .asks(request -> CallResults.orRejected(() -> CallResults.parts(request)))
                        .withoutContainerConfiguration(),
                type("getParts of a multipart/mixed body", "multipart/mixed; boundary=" + TestForm.BOUNDARY, form)
                        .asks(request -> CallResults.orRejected(() -> CallResults.parts(request))),
                type("a media type in mixed case", "MultiPart/Form-Data; BOUNDARY=" + TestForm.BOUNDARY, form)
                        .asks(request -> partsOrNot(request)),
                type("a quoted boundary", "multipart/form-data; boundary=\"" + TestForm.BOUNDARY + "\"", form)
                        .asks(request -> partsOrNot(request)),
                type("a Content-Type without a boundary", "multipart/form-data", form)
                        .asks(request -> CallResults.parts(request)),
                type(
                                "a Content-Type with two boundaries",
                                "multipart/form-data; boundary=" + TestForm.BOUNDARY + "; boundary=other",
                                form)
                        .asks(request -> CallResults.parts(request)),
                type("a media type that starts with multipart/form-data", "multipart/form-data-x; boundary=x", form)
                        .asks(request -> CallResults.orRejected(() -> CallResults.parts(request))),
                type("a servlet that does not use the form", TestForm.CONTENT_TYPE, "not a form")
                        .asks(request -> "fine"));
    }

    private static List<Question> bodies() {
        TestForm form = new TestForm().field("a", "1");
        return List.of(
                Question.that("getInputStream returns the body, if the form was not parsed")
                        .sends(form)
                        .asks(request -> "" + (request.getInputStream().readAllBytes().length == form.body().length)),
                Question.that("getParts after the body was read through getInputStream")
                        .sends(form)
                        .asks(request -> {
                            request.getInputStream().readAllBytes();
                            return partsOrNot(request);
                        }),
                Question.that("getParameter after the body was read through getInputStream")
                        .sends(path -> form.post(path + "?q=0"))
                        .asks(request -> {
                            request.getInputStream().readAllBytes();
                            return CallResults.attempt(() -> request.getParameter("a")) + " "
                                    + CallResults.attempt(() -> request.getParameter("q"));
                        }),
                Question.that("getParts after the body was read through getReader")
                        .sends(form)
                        .asks(request -> {
                            request.getReader().readLine();
                            return partsOrNot(request);
                        }),
                Question.that("getInputStream after getParts")
                        .sends(form)
                        .asks(request -> CallResults.parts(request) + " "
                                + CallResults.attempt(
                                        () -> request.getInputStream().read())),
                Question.that("getReader after getParts")
                        .sends(form)
                        .asks(request -> CallResults.parts(request) + " "
                                + CallResults.attempt(() -> request.getReader().read())),
                Question.that("getInputStream after getParameter")
                        .sends(form)
                        .asks(request -> request.getParameter("a") + " "
                                + CallResults.attempt(
                                        () -> request.getInputStream().read())),
                Question.that("getContentLength and getContentType still describe the request")
                        .sends(form)
                        .asks(request -> CallResults.parts(request) + " "
                                + (request.getContentLengthLong() == form.body().length) + " "
                                + request.getContentType().equals(TestForm.CONTENT_TYPE)));
    }

    private static List<Question> transport() {
        byte[] body = new TestForm()
                .field("a", "1")
                .file("f", "f", TestForm.noise(50_000, 3))
                .body();
        return List.of(
                Question.that("a chunked form")
                        .holds((connection, path) -> Question.describe(connection
                                .send(TestForm.chunked(path, body, 777))
                                .response()))
                        .asks(request -> CallResults.parts(request)),
                Question.that("Expect: 100-continue is answered when the servlet requests the form")
                        .holds((connection, path) -> {
                            connection.send(
                                    TestForm.head(path, "Content-Length: " + body.length, "Expect: 100-continue"));
                            int interim = connection.anyResponse().status();
                            return interim + " "
                                    + Question.describe(connection.send(body).response());
                        })
                        .asks(request -> CallResults.parts(request)),
                Question.that("more requests on the same connection after a form")
                        .holds((connection, path) -> {
                            StringBuilder answers = new StringBuilder();
                            for (int i = 0; i < 3; i++) {
                                byte[] post =
                                        new TestForm().field("a", "x".repeat(i)).post(path);
                                answers.append(Question.describe(
                                                connection.send(post).response()))
                                        .append(';');
                            }
                            return answers.toString();
                        })
                        .asks(request -> CallResults.parts(request)),
                Question.that("another request on the same connection after an unused form")
                        .holds((connection, path) -> {
                            byte[] post = new TestForm().field("a", "1").post(path);
                            return Question.describe(connection.send(post).response()) + " "
                                    + Question.describe(connection.send(post).response());
                        })
                        .asks(request -> "unseen"));
    }

    /** {@return a path below the path of the servlet, so that a dispatch stays with the same servlet} */
    private static String below(HttpServletRequest request, String more) {
        return request.getServletPath() + "/ask" + more;
    }

    private static List<Question> dispatches() {
        TestForm form = new TestForm().field("a", "1").file("f", "f.txt", new byte[] {'x', 'y'});
        Question.AskWithoutFiles seen = request -> CallResults.attempt(() -> CallResults.parts(request)) + " "
                + CallResults.attempt(() -> CallResults.parameters(request));
        return List.of(
                Question.that("a forward before the form was parsed")
                        .sends(form)
                        .asks(request -> forward(request, below(request, PARTS)))
                        .asksAt(PARTS, seen),
                Question.that("a forward after the form was parsed")
                        .sends(form)
                        .asks(request ->
                                CallResults.parts(request).substring(0, 0) + forward(request, below(request, PARTS)))
                        .asksAt(PARTS, seen),
                Question.that("the query string of a forward comes before the request's own")
                        .sends(path -> form.post(path + "?a=query"))
                        .asks(request -> forward(request, below(request, PARTS) + "?a=forward&z=9"))
                        .asksAt(PARTS, request -> CallResults.values(request, "a") + " " + request.getParameter("z")),
                Question.that("an include sees the form, and so does the including servlet afterwards")
                        .sends(form)
                        .asks(request -> {
                            include(request, below(request, PARTS));
                            return "; " + CallResults.parts(request);
                        })
                        .asksAt(PARTS, seen),
                Question.that("the query string of an include is visible only to the included servlet")
                        .sends(form)
                        .asks(request -> {
                            include(request, below(request, PARTS) + "?a=include");
                            return "; " + CallResults.values(request, "a");
                        })
                        .asksAt(PARTS, request -> CallResults.values(request, "a")),
                Question.that("an asynchronous dispatch sees a form that was parsed before")
                        .sends(form)
                        .asks(request -> {
                            if (request.getAttribute("again") != null) {
                                return CallResults.parts(request) + " " + CallResults.parameters(request);
                            }
                            request.getParts();
                            request.setAttribute("again", "yes");
                            request.startAsync().dispatch();
                            return "";
                        }),
                Question.that("an asynchronous dispatch parses a form that was not parsed before")
                        .sends(form)
                        .asks(request -> {
                            if (request.getAttribute("again") != null) {
                                return CallResults.parts(request) + " " + CallResults.parameters(request);
                            }
                            request.setAttribute("again", "yes");
                            request.startAsync().dispatch();
                            return "";
                        }),
                Question.that("a thread of AsyncContext.start parses the form")
                        .sends(form)
                        .asks(request -> {
                            AsyncContext context = request.startAsync();
                            context.start(() -> {
                                String response = CallResults.attempt(() -> CallResults.parts(request));
                                CallResults.attempt(() -> {
                                    context.getResponse()
                                            .getOutputStream()
                                            .write(response.getBytes(StandardCharsets.UTF_8));
                                    return null;
                                });
                                context.complete();
                            });
                            return "";
                        }),
                Question.that("the error page after sendError, if the form was parsed")
                        .holds((connection, path) -> connection
                                .send(form.post(path + "?q=0"))
                                .response()
                                .body())
                        .asks(request -> {
                            request.getParts();
                            Question.response(request).sendError(409, "the order is late");
                            return "";
                        })
                        .withoutContainerConfiguration());
    }

    private static String forward(HttpServletRequest request, String path) throws Exception {
        request.getRequestDispatcher(path).forward(request, Question.response(request));
        return "";
    }

    private static void include(HttpServletRequest request, String path) throws Exception {
        request.getRequestDispatcher(path).include(request, Question.response(request));
    }
}

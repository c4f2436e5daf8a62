package dev.sluice.servlet.container;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.sluice.testkit.TestForm;
import java.util.ArrayList;
import java.util.List;

/** Questions about limits and malformed bodies. The configured limits are 512 KiB for a part and 1 MiB for a body. */
final class LimitQuestions {
    private static final int MAX_PART = 512 << 10;

    private LimitQuestions() {}

    static List<Question> all() {
        List<Question> all = new ArrayList<>(sizes());
        all.addAll(malformed());
        return all;
    }

    private static Question parts(String title) {
        return Question.that(title).asks(request -> {
            CallResults.parts(request);
            return "accepted";
        });
    }

    private static TestForm fields(int count, String value) {
        TestForm form = new TestForm();
        for (int i = 0; i < count; i++) {
            form.field("f" + i, value);
        }
        return form;
    }

    private static List<Question> sizes() {
        return List.of(
                parts("a file of the largest allowed size").sends(new TestForm().file("f", "f", new byte[MAX_PART])),
                parts("a file one byte larger than allowed")
                        .sends(new TestForm().file("f", "f", new byte[MAX_PART + 1])),
                parts("the message on the error page for a file that is too large")
                        .holds((connection, path) -> {
                            TestForm form = new TestForm().file("f", "f", new byte[MAX_PART + 1]);
                            String page =
                                    connection.send(form.post(path)).response().body();
                            return page.substring(0, Math.max(0, page.lastIndexOf(", ")));
                        }),
                parts("a body larger than allowed")
                        .sends(new TestForm()
                                .file("f", "f", new byte[MAX_PART])
                                .file("g", "g", new byte[MAX_PART])
                                .field("a", "1")),
                parts("a chunked body larger than allowed")
                        .holds((connection, path) -> {
                            TestForm form = new TestForm()
                                    .file("f", "f", new byte[MAX_PART])
                                    .file("g", "g", new byte[MAX_PART]);
                            connection.send(TestForm.chunked(path, form.body(), 10_000));
                            return Question.describe(connection.response());
                        })
                        .withoutContainerConfiguration(),
                Question.that("the exception that getParts throws for a file that is too large")
                        .sends(new TestForm().field("a", "1").file("f", "f", new byte[MAX_PART + 1]))
                        .asks(request -> CallResults.attempt(() -> CallResults.parts(request))),
                Question.that("getParameter of a form with a file that is too large")
                        .sends(path -> new TestForm()
                                .field("a", "1")
                                .file("f", "f", new byte[MAX_PART + 1])
                                .post(path + "?q=0"))
                        .asks(request -> request.getParameter("a")),
                Question.that("a field of 400 KiB (text, without a file name)")
                        .sends(new TestForm().field("a", "x".repeat(400 << 10)))
                        .asks(request -> "" + request.getParameter("a").length()),
                Question.that("a field of 200 KiB")
                        .sends(new TestForm().field("a", "x".repeat(200 << 10)))
                        .asks(request -> "" + request.getParameter("a").length()),
                parts("49 fields").sends(fields(49, "1")),
                parts("51 fields").sends(fields(51, "1")),
                parts("101 fields").sends(fields(101, "1")),
                parts("1,000 fields").sends(fields(1000, "1")),
                parts("1,001 fields").sends(fields(1001, "1")),
                parts("20,000 fields").sends(fields(20_000, "")),
                parts("a header section of 2 KiB")
                        .sends(new TestForm()
                                .part(ParameterQuestions.disposition("a") + "\r\nX-Long: " + "x".repeat(2000), "1")),
                parts("a header section of 10 KiB")
                        .sends(new TestForm()
                                .part(ParameterQuestions.disposition("a") + "\r\nX-Long: " + "x".repeat(10_000), "1")),
                parts("40 headers in one part")
                        .sends(new TestForm()
                                .part(ParameterQuestions.disposition("a") + "\r\nX-More: 1".repeat(40), "1")));
    }

    private static Question raw(String title, String body) {
        return parts(title)
                .sends(path -> TestForm.request("POST", path, TestForm.CONTENT_TYPE, body.getBytes(US_ASCII)));
    }

    private static List<Question> malformed() {
        String delimiter = "--" + TestForm.BOUNDARY;
        String part = delimiter + "\r\n" + ParameterQuestions.disposition("a") + "\r\n\r\n1\r\n";
        return List.of(
                raw("an empty body", ""),
                raw("a body without any delimiter", "not a form"),
                raw("no close-delimiter", part),
                raw("a body that ends within a header", part + delimiter + "\r\nContent-Disp"),
                raw("a body that ends within a file", part.substring(0, part.length() - 2)),
                parts("the client stops sending before the Content-Length is reached, but still reads")
                        .holds((connection, path) -> {
                            byte[] request = new TestForm()
                                    .file("f", "f", new byte[5000])
                                    .post(path);
                            return Question.acceptedOrNot(
                                    connection.send(request, 0, 3000).sendEnd());
                        }),
                parts("a chunked body that ends within a chunk").holds((connection, path) -> {
                    byte[] chunks = TestForm.chunked(
                            path, new TestForm().file("f", "f", new byte[5000]).body(), 500);
                    return Question.acceptedOrNot(
                            connection.send(chunks, 0, 3000).sendEnd());
                }),
                raw(
                        "text after a delimiter, on the same line",
                        part + delimiter + "x\r\n\r\n2\r\n" + delimiter + "--\r\n"),
                raw(
                        "a header without a colon",
                        delimiter + "\r\nContent-Disposition form-data\r\n\r\n1\r\n" + delimiter + "--\r\n"),
                raw("a part without Content-Disposition", delimiter + "\r\nX-A: b\r\n\r\n1\r\n" + delimiter + "--\r\n"),
                raw(
                        "a part without a name",
                        delimiter + "\r\nContent-Disposition: form-data\r\n\r\n1\r\n" + delimiter + "--\r\n"),
                raw(
                        "two Content-Disposition headers",
                        delimiter + "\r\n" + ParameterQuestions.disposition("a") + "\r\n"
                                + ParameterQuestions.disposition("b") + "\r\n\r\n1\r\n" + delimiter + "--\r\n"),
                raw("lines that end in LF", (part + delimiter + "--\r\n").replace("\r", "")),
                raw("a preamble and an epilogue", "before\r\n" + part + delimiter + "--\r\nafter"),
                raw("a part after the close-delimiter", part + delimiter + "--\r\n" + part + delimiter + "--\r\n")
                        .asks(request -> CallResults.parts(request)),
                raw(
                        "padding after delimiters",
                        (part + delimiter + "--\r\n").replace(TestForm.BOUNDARY + "\r", TestForm.BOUNDARY + " \t\r")));
    }
}

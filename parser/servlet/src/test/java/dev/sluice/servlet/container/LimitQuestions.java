package dev.sluice.servlet.container;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.ArrayList;
import java.util.List;

/** What is refused. Parts of more than 512 KiB and bodies of more than 1 MiB are, on both sides, by their settings. */
final class LimitQuestions {
    private static final int MAX_PART = 512 << 10;

    private LimitQuestions() {}

    static List<Question> all() {
        List<Question> all = new ArrayList<>(sizes());
        all.addAll(malformed());
        return all;
    }

    private static Question parts(String title) {
        return Question.that(title).asks((request, location) -> {
            Say.parts(request);
            return "accepted";
        });
    }

    private static Form fields(int count, String value) {
        Form form = new Form();
        for (int i = 0; i < count; i++) {
            form.field("f" + i, value);
        }
        return form;
    }

    private static List<Question> sizes() {
        return List.of(
                parts("a file as large as allowed")
                        .sends(new Form().file("f", "f", new byte[MAX_PART]))
                        .gets("accepted"),
                parts("a file one byte larger than allowed")
                        .sends(new Form().file("f", "f", new byte[MAX_PART + 1]))
                        .gets("status 413")
                        .because("the client's fault, and the status that says which (RFC 9110 section 15.5.14)"),
                parts("what the error page is told of a file that is too large")
                        .holds((connection, path) -> {
                            Form form = new Form().file("f", "f", new byte[MAX_PART + 1]);
                            String page =
                                    connection.send(form.post(path)).answer().body();
                            return page.substring(0, Math.max(0, page.lastIndexOf(", ")));
                        })
                        .gets("error page 413 the size of the part body exceeds the limit of 524288 bytes"
                                + " (maxPartBytes; part 0, offset 524400)")
                        .because("the message names the limit and its value, in the words that Spring looks for"),
                parts("a body larger than allowed")
                        .sends(new Form()
                                .file("f", "f", new byte[MAX_PART])
                                .file("g", "g", new byte[MAX_PART])
                                .field("a", "1"))
                        .gets("status 413")
                        .because("the client's fault, and the status that says which (RFC 9110 section 15.5.14)"),
                parts("a chunked body larger than allowed")
                        .holds((connection, path) -> {
                            Form form = new Form()
                                    .file("f", "f", new byte[MAX_PART])
                                    .file("g", "g", new byte[MAX_PART]);
                            connection.send(Form.head(
                                    "POST", path, "Content-Type: " + Form.CONTENT_TYPE, "Transfer-Encoding: chunked"));
                            return Question.describe(connection
                                    .send(Form.chunked(form.body(), 10_000))
                                    .answer());
                        })
                        .whereTheContainerHasNoSay()
                        .gets("status 413")
                        .because("the client's fault, and the status that says which (RFC 9110 section 15.5.14)"),
                Question.that("the application catches what getParts throws of a file that is too large")
                        .sends(new Form().field("a", "1").file("f", "f", new byte[MAX_PART + 1]))
                        .asks((request, location) -> Say.attempt(() -> Say.parts(request)))
                        .gets("IllegalStateException")
                        .because("the Javadoc of getParts says IllegalStateException for what is too large"),
                Question.that("getParameter of a form with a file that is too large")
                        .sends(path -> new Form()
                                .field("a", "1")
                                .file("f", "f", new byte[MAX_PART + 1])
                                .post(path + "?q=0"))
                        .asks((request, location) -> request.getParameter("a"))
                        .gets("status 413")
                        .because("the client's fault, and the status that says which (RFC 9110 section 15.5.14)"),
                Question.that("a field without a file name of 400 KiB: no memory for the asking")
                        .sends(new Form().field("a", "x".repeat(400 << 10)))
                        .asks((request, location) ->
                                "" + request.getParameter("a").length())
                        .gets("status 413")
                        .because("a field counts like a file (the class of CVE-2023-26048) and as text "
                                + "it has a limit of "
                                + "its own, 256 KiB"),
                Question.that("a field of 200 KiB")
                        .sends(new Form().field("a", "x".repeat(200 << 10)))
                        .asks((request, location) ->
                                "" + request.getParameter("a").length())
                        .gets("204800")
                        .because("within all limits; Jetty counts fields against the limit of "
                                + "urlencoded forms, 200,000 bytes"),
                parts("49 fields").sends(fields(49, "1")).gets("accepted"),
                parts("51 fields")
                        .sends(fields(51, "1"))
                        .gets("accepted")
                        .because("`maxParts` is 1000, and a part costs 512 bytes of the budget; 50 breaks forms of "
                                + "businesses (Tomcat's default)"),
                parts("101 fields")
                        .sends(fields(101, "1"))
                        .gets("accepted")
                        .because("`maxParts` is 1000, and a part costs 512 bytes of the budget; 50 breaks forms of "
                                + "businesses (Tomcat's default)"),
                parts("1,000 fields")
                        .sends(fields(1000, "1"))
                        .gets("accepted")
                        .because("`maxParts` is 1000, and a part costs 512 bytes of the budget; 50 breaks forms of "
                                + "businesses (Tomcat's default)"),
                parts("1,001 fields")
                        .sends(fields(1001, "1"))
                        .gets("status 413")
                        .because("`maxParts`; 413 and its name in the message"),
                parts("20,000 fields")
                        .sends(fields(20_000, ""))
                        .gets("status 413")
                        .because("`maxParts`; 413 and its name in the message"),
                parts("a header section of 2 KiB")
                        .sends(new Form()
                                .part(ParameterQuestions.disposition("a") + "\r\nX-Long: " + "x".repeat(2000), "1"))
                        .gets("accepted")
                        .because("8 KiB for the headers of a part; Tomcat's 512 bytes break long file names"),
                parts("a header section of 10 KiB")
                        .sends(new Form()
                                .part(ParameterQuestions.disposition("a") + "\r\nX-Long: " + "x".repeat(10_000), "1"))
                        .gets("status 413")
                        .because("8 KiB for the headers of a part: `maxHeaderBytesPerPart`"),
                parts("40 headers in one part")
                        .sends(new Form().part(ParameterQuestions.disposition("a") + "\r\nX-More: 1".repeat(40), "1"))
                        .gets("status 413")
                        .because("32 headers for a part: `maxHeadersPerPart`"));
    }

    private static Question raw(String title, String body) {
        return parts(title).sends(path -> Form.request("POST", path, Form.CONTENT_TYPE, body.getBytes(US_ASCII)));
    }

    private static List<Question> malformed() {
        String delimiter = "--" + Form.BOUNDARY;
        String part = delimiter + "\r\n" + ParameterQuestions.disposition("a") + "\r\n\r\n1\r\n";
        return List.of(
                raw("a body of no bytes", "")
                        .gets("status 400")
                        .because("no form, and a truncated one may look so (policy row 16)"),
                raw("a body without any delimiter", "this is no form")
                        .gets("status 400")
                        .because("no form, and a truncated one may look so (policy row 16)"),
                raw("no close-delimiter", part)
                        .gets("status 400")
                        .because("malformed input is the client's fault: 400 (policy row 16)"),
                raw("the end within a header", part + delimiter + "\r\nContent-Disp")
                        .gets("status 400")
                        .because("malformed input is the client's fault: 400 (policy row 16)"),
                raw("the end within a file", part.substring(0, part.length() - 2))
                        .gets("status 400")
                        .because("malformed input is the client's fault: 400 (policy row 16)"),
                parts("the client stops sending before Content-Length, and listens")
                        .holds((connection, path) -> {
                            byte[] body =
                                    new Form().file("f", "f", new byte[5000]).body();
                            connection.send(Form.head(
                                    "POST",
                                    path,
                                    "Content-Type: " + Form.CONTENT_TYPE,
                                    "Content-Length: " + body.length));
                            return Question.acceptedOrNot(
                                    connection.send(body, 0, 3000).sendEnd());
                        })
                        .gets("refused"),
                parts("a chunked body that is cut off within a chunk")
                        .holds((connection, path) -> {
                            byte[] chunks = Form.chunked(
                                    new Form().file("f", "f", new byte[5000]).body(), 500);
                            connection.send(Form.head(
                                    "POST", path, "Content-Type: " + Form.CONTENT_TYPE, "Transfer-Encoding: chunked"));
                            return Question.acceptedOrNot(
                                    connection.send(chunks, 0, 3000).sendEnd());
                        })
                        .gets("refused"),
                raw("text on the line of a delimiter", part + delimiter + "x\r\n\r\n2\r\n" + delimiter + "--\r\n")
                        .gets("status 400")
                        .because("two readers would see two forms (policy row 13)"),
                raw(
                                "a header without a colon",
                                delimiter + "\r\nContent-Disposition form-data\r\n\r\n1\r\n" + delimiter + "--\r\n")
                        .gets("status 400")
                        .because("no header (policy row 22)"),
                raw("a part without Content-Disposition", delimiter + "\r\nX-A: b\r\n\r\n1\r\n" + delimiter + "--\r\n")
                        .gets("status 400")
                        .because("RFC 7578 section 4.2 asks for it (policy row 28)"),
                raw(
                                "a part without a name",
                                delimiter + "\r\nContent-Disposition: form-data\r\n\r\n1\r\n" + delimiter + "--\r\n")
                        .gets("status 400")
                        .because("RFC 7578 section 4.2 asks for it (policy row 29)"),
                raw(
                                "two Content-Disposition headers",
                                delimiter + "\r\n" + ParameterQuestions.disposition("a") + "\r\n"
                                        + ParameterQuestions.disposition("b") + "\r\n\r\n1\r\n" + delimiter + "--\r\n")
                        .gets("status 400")
                        .because("two readers would see two names (policy row 23)"),
                raw("LF as the end of lines", (part + delimiter + "--\r\n").replace("\r", ""))
                        .gets("status 400")
                        .because("RFC 2046 section 4.1.1 says CRLF; LF with the COMPATIBLE preset (policy row 19)"),
                raw("a preamble and an epilogue", "before\r\n" + part + delimiter + "--\r\nafter")
                        .gets("accepted"),
                raw("a part after the close-delimiter", part + delimiter + "--\r\n" + part + delimiter + "--\r\n")
                        .asks((request, location) -> Say.parts(request))
                        .gets("a:1"),
                raw(
                                "padding after delimiters",
                                (part + delimiter + "--\r\n").replace(Form.BOUNDARY + "\r", Form.BOUNDARY + " \t\r"))
                        .gets("accepted"));
    }
}

package dev.sluice.servlet.container;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.sluice.testkit.TestForm;
import java.util.List;

final class ParameterQuestions {
    private ParameterQuestions() {}

    static List<Question> all() {
        return List.of(
                Question.that("order of parameters and parts; a name that occurs twice")
                        .sends(new TestForm().field("b", "1").field("a", "2").field("b", "3"))
                        .asks(request -> CallResults.parameters(request) + ", parts " + CallResults.parts(request)),
                Question.that("getParameter before getParts")
                        .sends(new TestForm().field("a", "1"))
                        .asks(request -> request.getParameter("a") + " " + CallResults.parts(request)),
                Question.that("values from the query string come before values from the body")
                        .sends(path -> new TestForm()
                                .field("a", "body")
                                .field("b", "body")
                                .post(path + "?c=query&a=query"))
                        .asks(request -> request.getParameter("a") + " " + CallResults.values(request, "a") + " "
                                + CallResults.values(request, "b") + CallResults.values(request, "c") + " "
                                + CallResults.values(request, "d")),
                Question.that("order of parameter names from the query string and the body")
                        .sends(path ->
                                new TestForm().field("b", "1").field("a", "2").post(path + "?z=3"))
                        .asks(request -> CallResults.parameterNames(request)),
                Question.that("the query string is decoded")
                        .sends(path -> new TestForm().field("x", "1").post(path + "?q=%C3%A4+b%26&empty=&bare"))
                        .asks(request -> request.getParameter("q") + " " + CallResults.values(request, "empty") + " "
                                + CallResults.values(request, "bare")),
                Question.that("a file is not a parameter")
                        .sends(new TestForm().field("a", "1").file("f", "f.txt", new byte[] {'x'}))
                        .asks(request -> request.getParameter("f") + " " + CallResults.parameters(request)),
                Question.that("a file input that was left empty is an empty file, and not a parameter")
                        .sends(new TestForm().file("f", "", new byte[0]))
                        .asks(request -> request.getParameter("f") + " " + CallResults.parts(request) + " '"
                                + request.getPart("f").getSubmittedFileName() + "'"),
                Question.that("a part without a file name is a parameter, with any Content-Type")
                        .sends(new TestForm()
                                .part(disposition("j") + "\r\nContent-Type: application/json", "{}")
                                .part(disposition("o") + "\r\nContent-Type: application/octet-stream", "o"))
                        .asks(request -> request.getParameter("j") + " " + request.getParameter("o") + " "
                                + request.getPart("j").getContentType()),
                Question.that("an empty field is an empty parameter")
                        .sends(new TestForm().field("a", ""))
                        .asks(request -> CallResults.values(request, "a")),
                Question.that("a field with an empty name")
                        .sends(new TestForm().field("", "1"))
                        .asks(request -> CallResults.values(request, "")),
                Question.that("charset of text, if nothing specifies it")
                        .sends(new TestForm().field("a", "ä€").field("ö", "name"))
                        .asks(request -> request.getParameter("a") + " " + request.getParameter("ö")),
                Question.that("the charset of the request's Content-Type does not apply to text")
                        .sends(path -> sayingLatin1(path, new TestForm().field("a", "ä")))
                        .asks(request -> request.getParameter("a")),
                Question.that("setCharacterEncoding takes precedence over the charset of the request's Content-Type")
                        .sends(path ->
                                sayingLatin1(path, new TestForm().part(disposition("a"), new byte[] {(byte) 0x80})))
                        .asks(request -> {
                            request.setCharacterEncoding("windows-1252");
                            return request.getParameter("a");
                        }),
                Question.that(
                                "setCharacterEncoding applies to text, even with the charset that the Content-Type of the request names")
                        .sends(path ->
                                sayingLatin1(path, new TestForm().part(disposition("a"), new byte[] {(byte) 0xe4})))
                        .asks(request -> {
                            request.setCharacterEncoding("ISO-8859-1");
                            return request.getParameter("a");
                        }),
                Question.that("setCharacterEncoding before the first access applies to text")
                        .sends(new TestForm().part(disposition("a"), new byte[] {(byte) 0xe4}))
                        .asks(request -> {
                            request.setCharacterEncoding("ISO-8859-1");
                            return request.getParameter("a");
                        }),
                Question.that("setCharacterEncoding applies to names too")
                        .sends(new TestForm().bytes(namedInLatin1()))
                        .asks(request -> {
                            request.setCharacterEncoding("ISO-8859-1");
                            return request.getParameter("ä");
                        }),
                Question.that("the charset of a part applies to its text")
                        .sends(new TestForm()
                                .part(
                                        disposition("a") + "\r\nContent-Type: text/plain; charset=ISO-8859-1",
                                        new byte[] {(byte) 0xe4}))
                        .asks(request -> request.getParameter("a")),
                Question.that("a part with a charset, after setCharacterEncoding with another")
                        .sends(new TestForm()
                                .part(disposition("a") + "\r\nContent-Type: text/plain; charset=UTF-8", "ä"))
                        .asks(request -> {
                            request.setCharacterEncoding("ISO-8859-1");
                            return request.getParameter("a");
                        }),
                Question.that("a _charset_ field applies to the text of the other fields")
                        .sends(new TestForm()
                                .field("_charset_", "ISO-8859-1")
                                .part(disposition("a"), new byte[] {(byte) 0xe4}))
                        .asks(request -> request.getParameter("a")),
                Question.that("a part with an unknown charset")
                        .sends(new TestForm()
                                .part(disposition("a") + "\r\nContent-Type: text/plain; charset=nobody-knows", "ä"))
                        .asks(request -> request.getParameter("a")),
                Question.that("parameters and parts of an empty form")
                        .sends(new TestForm())
                        .asks(request ->
                                "[" + CallResults.parameters(request) + "] [" + CallResults.parts(request) + "]"),
                Question.that("changing the map of getParameterMap")
                        .sends(new TestForm().field("a", "1"))
                        .asks(request -> CallResults.attempt(
                                        () -> request.getParameterMap().put("b", new String[0])) + " "
                                + CallResults.parameterNames(request)));
    }

    private static byte[] sayingLatin1(String path, TestForm form) {
        return TestForm.request("POST", path, TestForm.CONTENT_TYPE + "; charset=ISO-8859-1", form.body());
    }

    private static byte[] namedInLatin1() {
        return ("--" + TestForm.BOUNDARY + "\r\n" + disposition("ä") + "\r\n\r\n1\r\n").getBytes(ISO_8859_1);
    }

    static String disposition(String name) {
        return "Content-Disposition: form-data; name=\"" + name + "\"";
    }
}

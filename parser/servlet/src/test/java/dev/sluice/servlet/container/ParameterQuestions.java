package dev.sluice.servlet.container;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.util.List;

/** What becomes of fields. */
final class ParameterQuestions {
    private ParameterQuestions() {}

    static List<Question> all() {
        return List.of(
                Question.that("fields are parameters, in order, with all values of a repeated name")
                        .sends(new Form().field("b", "1").field("a", "2").field("b", "3"))
                        .asks((request, location) -> Say.parameters(request) + ", parts " + Say.parts(request))
                        .gets("b=1,3 a=2, parts b:1 a:1 b:1")
                        .because("the servlet specification asks for values in order; names and parts are kept in the "
                                + "order in which they came too, which Undertow loses in hash maps"),
                Question.that("getParameter before getParts sees the fields")
                        .sends(new Form().field("a", "1"))
                        .asks((request, location) -> request.getParameter("a") + " " + Say.parts(request))
                        .gets("1 a:1"),
                Question.that("the query string comes before the body")
                        .sends(path ->
                                new Form().field("a", "body").field("b", "body").post(path + "?c=query&a=query"))
                        .asks((request, location) -> request.getParameter("a") + " " + Say.values(request, "a") + " "
                                + Say.values(request, "b") + Say.values(request, "c") + " " + Say.values(request, "d"))
                        .gets("query [query, body] [body][query] null"),
                Question.that("the names of the query string come before those of the body")
                        .sends(path ->
                                new Form().field("b", "1").field("a", "2").post(path + "?z=3"))
                        .asks((request, location) -> Say.parameterNames(request))
                        .gets("z b a")
                        .because("as above: query string first, then the body, each in its order"),
                Question.that("the query string is decoded")
                        .sends(path -> new Form().field("x", "1").post(path + "?q=%C3%A4+b%26&empty=&bare"))
                        .asks((request, location) -> request.getParameter("q") + " " + Say.values(request, "empty")
                                + " " + Say.values(request, "bare"))
                        .gets("ä b& [] []"),
                Question.that("a file is no parameter")
                        .sends(new Form().field("a", "1").file("f", "f.txt", new byte[] {'x'}))
                        .asks((request, location) -> request.getParameter("f") + " " + Say.parameters(request))
                        .gets("null a=1"),
                Question.that("a file input left empty is a file of no bytes, and no parameter")
                        .sends(new Form().file("f", "", new byte[0]))
                        .asks((request, location) -> request.getParameter("f") + " " + Say.parts(request) + " '"
                                + request.getPart("f").getSubmittedFileName() + "'")
                        .gets("null f:0 ''"),
                Question.that("a part without a file name is a parameter, whatever its Content-Type")
                        .sends(new Form()
                                .part(disposition("j") + "\r\nContent-Type: application/json", "{}")
                                .part(disposition("o") + "\r\nContent-Type: application/octet-stream", "o"))
                        .asks((request, location) -> request.getParameter("j") + " " + request.getParameter("o") + " "
                                + request.getPart("j").getContentType())
                        .gets("{} o application/json"),
                Question.that("an empty field is an empty parameter")
                        .sends(new Form().field("a", ""))
                        .asks((request, location) -> Say.values(request, "a"))
                        .gets("[]"),
                Question.that("a field named with no characters is a parameter of that name")
                        .sends(new Form().field("", "1"))
                        .asks((request, location) -> Say.values(request, ""))
                        .gets("[1]")
                        .because("`name=\"\"` is a name (policy row 30); Tomcat drops the field"),
                Question.that("text is UTF-8 where nothing says otherwise")
                        .sends(new Form().field("a", "ä€").field("ö", "name"))
                        .asks((request, location) -> request.getParameter("a") + " " + request.getParameter("ö"))
                        .gets("ä€ name")
                        .because("RFC 7578 section 5.1.2: browsers send UTF-8; the ISO-8859-1 of the servlet "
                                + "specification spoils it"),
                Question.that("the charset of the request's Content-Type is for text")
                        .sends(path -> Form.request(
                                "POST",
                                path,
                                Form.CONTENT_TYPE + "; charset=ISO-8859-1",
                                new Form()
                                        .part(disposition("a"), new byte[] {(byte) 0xe4})
                                        .body()))
                        .asks((request, location) -> request.getParameter("a"))
                        .gets("ä"),
                Question.that("setCharacterEncoding before the first access is for text")
                        .sends(new Form().part(disposition("a"), new byte[] {(byte) 0xe4}))
                        .asks((request, location) -> {
                            request.setCharacterEncoding("ISO-8859-1");
                            return request.getParameter("a");
                        })
                        .gets("ä"),
                Question.that("setCharacterEncoding is for names too")
                        .sends(new Form().bytes(namedInLatin1()))
                        .asks((request, location) -> {
                            request.setCharacterEncoding("ISO-8859-1");
                            return request.getParameter("ä");
                        })
                        .gets("1")
                        .because(
                                "names are written in the charset of the text; Jetty fails on the name before it asks"),
                Question.that("the charset of a part is for its text")
                        .sends(new Form()
                                .part(
                                        disposition("a") + "\r\nContent-Type: text/plain; charset=ISO-8859-1",
                                        new byte[] {(byte) 0xe4}))
                        .asks((request, location) -> request.getParameter("a"))
                        .gets("ä"),
                Question.that("the charset of a part goes before setCharacterEncoding")
                        .sends(new Form().part(disposition("a") + "\r\nContent-Type: text/plain; charset=UTF-8", "ä"))
                        .asks((request, location) -> {
                            request.setCharacterEncoding("ISO-8859-1");
                            return request.getParameter("a");
                        })
                        .gets("ä")
                        .because("the part knows best (RFC 7578 section 4.5, policy row 45)"),
                Question.that("a _charset_ field is for the text of the others")
                        .sends(new Form()
                                .field("_charset_", "ISO-8859-1")
                                .part(disposition("a"), new byte[] {(byte) 0xe4}))
                        .asks((request, location) -> request.getParameter("a"))
                        .gets("ä"),
                Question.that("a charset that nobody knows is as if there were none")
                        .sends(new Form()
                                .part(disposition("a") + "\r\nContent-Type: text/plain; charset=nobody-knows", "ä"))
                        .asks((request, location) -> request.getParameter("a"))
                        .gets("ä")
                        .because("the bytes are there and the text is a guess anyway: UTF-8, and "
                                + "reported (policy row 45)"),
                Question.that("the empty form has no parameters and no parts")
                        .sends(new Form())
                        .asks((request, location) -> "[" + Say.parameters(request) + "] [" + Say.parts(request) + "]")
                        .gets("[] []")
                        .because("browsers send it for a form without successful controls (policy row 15); Undertow "
                                + "cannot read it"),
                Question.that("the map of parameters cannot be changed")
                        .sends(new Form().field("a", "1"))
                        .asks((request, location) ->
                                Say.attempt(() -> request.getParameterMap().put("b", new String[0])) + " "
                                        + Say.parameterNames(request))
                        .gets("UnsupportedOperationException a")
                        .because(
                                "the Javadoc of getParameterMap says immutable; which exception says so is left open"));
    }

    private static byte[] namedInLatin1() {
        return ("--" + Form.BOUNDARY + "\r\n" + disposition("ä") + "\r\n\r\n1\r\n").getBytes(ISO_8859_1);
    }

    static String disposition(String name) {
        return "Content-Disposition: form-data; name=\"" + name + "\"";
    }
}

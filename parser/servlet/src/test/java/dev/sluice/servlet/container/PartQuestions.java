package dev.sluice.servlet.container;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.Part;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** What a {@code Part} answers. */
final class PartQuestions {
    private static final byte[] SMALL = {'o', 'n', 'e'};
    private static final byte[] LARGE = Form.noise(100_000, 1);

    private PartQuestions() {}

    static List<Question> all() {
        List<Question> all = new ArrayList<>();
        all.addAll(names());
        all.addAll(headers());
        all.addAll(content());
        all.addAll(files());
        return all;
    }

    private static Question filename(String what, String parameters) {
        return Question.that("getSubmittedFileName of " + what)
                .sends(new Form().part("Content-Disposition: form-data; name=\"f\"" + parameters, "x"))
                .asks((request, location) -> String.valueOf(request.getPart("f").getSubmittedFileName()));
    }

    private static List<Question> names() {
        return List.of(
                filename("an ordinary name", "; filename=\"a b.txt\"").gets("a b.txt"),
                filename("a name that is a token", "; filename=a.txt").gets("a.txt"),
                filename("a part without", "").gets("null"),
                filename("an escaped quote", "; filename=\"a\\\"b.txt\"")
                        .gets("a\"b.txt")
                        .because("`\\\"` is a quote (policy row 34); Undertow cuts the name there"),
                filename("an escaped backslash", "; filename=\"a\\\\b.txt\"")
                        .gets("a\\b.txt")
                        .because("`\\\\` is one backslash (policy row 34)"),
                filename("a Windows path whose backslashes are not escaped", "; filename=\"C:\\dir\\new.txt\"")
                        .gets("C:\\dir\\new.txt")
                        .because("old browsers send it so; any other backslash is itself (policy row 34), or the name "
                                + "loses its directories and letters"),
                filename("a path that climbs", "; filename=\"../../etc/passwd\"")
                        .gets("../../etc/passwd"),
                filename("UTF-8", "; filename=\"naïve-日本.txt\"")
                        .gets("naïve-日本.txt")
                        .because("as for text: UTF-8 by default, whatever the file system or the request says"),
                filename("percent escapes of browsers", "; filename=\"a%22b.txt\"")
                        .gets("a%22b.txt"),
                filename("a plus sign", "; filename=\"a+b.txt\"").gets("a+b.txt"),
                filename("a semicolon in quotes", "; filename=\"a;b=c.txt\"").gets("a;b=c.txt"),
                filename("filename* alone", "; filename*=UTF-8''na%C3%AFve+.txt")
                        .gets("naïve+.txt")
                        .because("RFC 8187 section 3.2: `+` is itself and not a space"),
                filename("filename* beside filename", "; filename=\"plain.txt\"; filename*=UTF-8''star.txt")
                        .gets("plain.txt")
                        .because("RFC 7578 section 4.2 forbids `filename*`, so what a firewall looked "
                                + "at is the plain one "
                                + "(policy row 39); reported"),
                filename("filename* in ISO-8859-1", "; filename*=ISO-8859-1'en'%A3.txt")
                        .gets("£.txt")
                        .because("RFC 8187 section 3.2.1 allows to read it, and the language tag is no "
                                + "part of the name"),
                filename("filename* with a broken escape", "; filename*=UTF-8''a%zz.txt")
                        .gets("null")
                        .because("the parameter is ignored and reported (policy row 40); it is no "
                                + "failure of the server"),
                filename("RFC 2047 encoded words", "; filename=\"=?UTF-8?B?YS50eHQ=?=\"")
                        .gets("=?UTF-8?B?YS50eHQ=?=")
                        .because(
                                "RFC 2047 section 5 forbids encoded words in a quoted string: literal (policy row 41)"),
                filename("two filename parameters", "; filename=\"a.txt\"; filename=\"b.txt\"")
                        .gets("status 400")
                        .because("two readers would see two names: refused (policy row 31)"),
                filename("a name with a control character", "; filename=\"\u0001\"")
                        .gets("status 400")
                        .because("no header value holds one (policy row 22)"),
                Question.that("a name in upper case parameters and header names")
                        .sends(new Form().part("content-disposition: FORM-DATA; NAME=\"f\"; FileName=\"A.txt\"", "x"))
                        .asks((request, location) -> request.getPart("f").getSubmittedFileName())
                        .gets("A.txt")
                        .because("names of headers and parameters, and the type, have no case (RFC 2183 section 2)"),
                Question.that("two parts of one name: getPart gives the first")
                        .sends(new Form().file("f", "1.txt", SMALL).file("f", "2.txt", SMALL))
                        .asks((request, location) ->
                                request.getPart("f").getSubmittedFileName() + " " + Say.parts(request))
                        .gets("1.txt f:3 f:3"),
                Question.that("getPart of a name that is not there")
                        .sends(new Form().field("a", "1"))
                        .asks((request, location) -> String.valueOf(request.getPart("b")))
                        .gets("null"),
                Question.that("getPart(null)")
                        .sends(new Form().field("a", "1"))
                        .asks((request, location) -> Say.attempt(() -> request.getPart(null)))
                        .gets("null")
                        .because("no part has that name"));
    }

    private static List<Question> headers() {
        Form form = new Form()
                .part(
                        "Content-Disposition: form-data; name=\"f\"; filename=\"f\"\r\ncontent-type: text/html; x=y\r\n"
                                + "X-Two: 1\r\nX-Two: 2\r\nX-Text: ä",
                        "x");
        return List.of(
                Question.that("getContentType is the header, with its parameters")
                        .sends(form)
                        .asks((request, location) -> request.getPart("f").getContentType())
                        .gets("text/html; x=y"),
                Question.that("getContentType of a part without")
                        .sends(new Form().field("a", "1"))
                        .asks((request, location) ->
                                String.valueOf(request.getPart("a").getContentType()))
                        .gets("null"),
                Question.that("getHeader in any case, the first of several, null for none")
                        .sends(form)
                        .asks((request, location) -> request.getPart("f").getHeader("CONTENT-TYPE") + " "
                                + request.getPart("f").getHeader("x-two") + " "
                                + request.getPart("f").getHeader("x-three"))
                        .gets("text/html; x=y 1 null")
                        .because("the Javadoc says the first; Undertow gives the last"),
                Question.that("getHeaders gives all in order")
                        .sends(form)
                        .asks((request, location) -> List.copyOf(
                                        request.getPart("f").getHeaders("x-two"))
                                .toString())
                        .gets("[1, 2]")
                        .because("the Javadoc says all values"),
                Question.that("getHeaders of a header that is not there")
                        .sends(form)
                        .asks((request, location) -> Say.attempt(
                                () -> request.getPart("f").getHeaders("x-three").size()))
                        .gets("0"),
                Question.that("getHeaderNames, each once")
                        .sends(form)
                        .asks((request, location) ->
                                Say.names(request.getPart("f").getHeaderNames()))
                        .gets("content-disposition content-type x-text x-two"),
                Question.that("the text of a header is UTF-8")
                        .sends(form)
                        .asks((request, location) -> request.getPart("f").getHeader("x-text"))
                        .gets("ä")
                        .because("as for names and file names"),
                Question.that("a folded header is one value")
                        .sends(new Form()
                                .part("Content-Disposition: form-data;\r\n name=\"a\"\r\nX-Long: b\r\n  c", "1"))
                        .asks((request, location) -> request.getPart("a").getHeader("x-long"))
                        .gets("b c")
                        .because("RFC 2046 lets old mail software fold; unfolded to one space and "
                                + "reported (policy row 20)"));
    }

    private static List<Question> content() {
        Form form =
                new Form().file("s", "s.bin", SMALL).file("l", "l.bin", LARGE).file("e", "e.bin", new byte[0]);
        return List.of(
                Question.that("getSize of small, large and empty files")
                        .sends(form)
                        .asks((request, location) -> Say.parts(request))
                        .gets("s:3 l:100000 e:0"),
                Question.that("getInputStream twice, and both are read to the end")
                        .sends(form)
                        .asks((request, location) -> {
                            Part part = request.getPart("l");
                            return request.getPart("l").getInputStream().readAllBytes().length + " "
                                    + java.util.Arrays.equals(
                                            LARGE, part.getInputStream().readAllBytes());
                        })
                        .gets("100000 true"),
                Question.that("two streams of one part do not disturb each other")
                        .sends(form)
                        .asks((request, location) -> {
                            Part part = request.getPart("s");
                            try (InputStream one = part.getInputStream();
                                    InputStream two = part.getInputStream()) {
                                return "" + (char) one.read() + (char) one.read() + (char) two.read();
                            }
                        })
                        .gets("ono"),
                Question.that("getParts twice gives the same parts")
                        .sends(form)
                        .asks((request, location) -> {
                            List<Part> first = List.copyOf(request.getParts());
                            return "" + first.equals(List.copyOf(request.getParts()));
                        })
                        .gets("true"),
                Question.that("getPart gives a part of getParts")
                        .sends(form)
                        .asks((request, location) -> "" + request.getParts().contains(request.getPart("s")))
                        .gets("true"),
                Question.that("a change of the collection does not change the request")
                        .sends(form)
                        .asks((request, location) -> {
                            Collection<Part> parts = request.getParts();
                            Say.attempt(() -> {
                                parts.clear();
                                return null;
                            });
                            return "" + request.getParts().size();
                        })
                        .gets("3")
                        .because("the Javadoc says that changes must not affect the request"),
                Question.that("the content is what the part held, not decoded")
                        .sends(new Form()
                                .part(
                                        "Content-Disposition: form-data; name=\"f\"; filename=\"f\"\r\n"
                                                + "Content-Transfer-Encoding: base64",
                                        "YWJj"))
                        .asks((request, location) -> Say.text(request.getPart("f")))
                        .gets("YWJj")
                        .because("RFC 7578 section 4.7 deprecates Content-Transfer-Encoding; raw bytes and reported by "
                                + "default, decoded with the COMPATIBLE preset (policy row 26)"));
    }

    private static String write(HttpServletRequest request, String name, String target) {
        return Say.attempt(() -> {
            request.getPart(name).write(target);
            return "written";
        });
    }

    private static String delete(HttpServletRequest request, String name) {
        return Say.attempt(() -> {
            request.getPart(name).delete();
            return "deleted";
        });
    }

    private static String size(Path path) {
        return Say.attempt(() -> {
            boolean there = Files.exists(path);
            return there ? Files.size(path) + " bytes" : "no file";
        });
    }

    private static List<Question> files() {
        Form form =
                new Form().file("s", "s.bin", SMALL).file("l", "l.bin", LARGE).field("a", "text");
        return List.of(
                Question.that("write to a relative name: into the location, from memory and from disk")
                        .sends(form)
                        .asks((request, location) -> write(request, "s", "rs") + " " + write(request, "l", "rl") + " "
                                + size(location.resolve("rs")) + " " + size(location.resolve("rl")))
                        .gets("written written 3 bytes 100000 bytes"),
                Question.that("write to an absolute path")
                        .sends(form)
                        .asks((request, location) -> {
                            Path target = location.resolveSibling("absolute-" + location.getFileName());
                            return write(request, "l", target.toString()) + " " + size(target);
                        })
                        .gets("written 100000 bytes"),
                Question.that("write to a relative name that climbs out of the location")
                        .sends(form)
                        .asks((request, location) -> {
                            Path target = location.resolveSibling("climbed-" + location.getFileName());
                            return write(request, "l", "../" + target.getFileName()) + " " + size(target);
                        })
                        .gets("IOException no file")
                        .because(
                                "the Javadoc says relative to the location; a name that came with the request must not "
                                        + "choose the directory"),
                Question.that("write to a name with a directory that does not exist")
                        .sends(form)
                        .asks((request, location) -> write(request, "s", "none/s"))
                        .gets("IOException"),
                Question.that("write onto a file that exists")
                        .sends(form)
                        .asks((request, location) -> {
                            Files.writeString(location.resolve("exists"), "a file of somebody");
                            return write(request, "s", "exists") + " " + size(location.resolve("exists"));
                        })
                        .gets("written 3 bytes"),
                Question.that("write of a field")
                        .sends(form)
                        .asks((request, location) ->
                                write(request, "a", "field") + " " + size(location.resolve("field")))
                        .gets("written 4 bytes")
                        .because("a part is a part; Undertow writes nothing and does not say so"),
                Question.that("write twice")
                        .sends(form)
                        .asks((request, location) -> write(request, "l", "t1") + " " + write(request, "l", "t2") + " "
                                + size(location.resolve("t1")) + " " + size(location.resolve("t2")))
                        .gets("written IllegalStateException 100000 bytes no file")
                        .because("the content has moved, and moves once; to ask again is a mistake of the application"),
                Question.that("getInputStream after write")
                        .sends(form)
                        .asks((request, location) -> write(request, "l", "w") + " "
                                + Say.attempt(() ->
                                        request.getPart("l").getInputStream().readAllBytes().length))
                        .gets("written IllegalStateException")
                        .because("the content has moved, and belongs to the application"),
                Question.that("getSize after write")
                        .sends(form)
                        .asks((request, location) -> write(request, "l", "ws") + " "
                                + Say.attempt(() -> request.getPart("l").getSize()))
                        .gets("written 100000")
                        .because("the size is known whoever has the content"),
                Question.that("delete after write keeps what was written")
                        .sends(form)
                        .asks((request, location) -> write(request, "l", "wd") + " " + delete(request, "l") + " "
                                + size(location.resolve("wd")))
                        .gets("written deleted 100000 bytes")
                        .because("the written file belongs to the application (jetty/jetty.project#15626)"),
                Question.that("getInputStream after delete")
                        .sends(form)
                        .asks((request, location) -> delete(request, "s") + " " + delete(request, "l") + " "
                                + Say.attempt(() ->
                                        request.getPart("s").getInputStream().readAllBytes().length) + " "
                                + Say.attempt(() ->
                                        request.getPart("l").getInputStream().readAllBytes().length))
                        .gets("deleted deleted IllegalStateException IllegalStateException")
                        .because("deleted is deleted, in memory as on disk"),
                Question.that("delete twice")
                        .sends(form)
                        .asks((request, location) -> delete(request, "l") + " " + delete(request, "l"))
                        .gets("deleted deleted"),
                Question.that("write after delete")
                        .sends(form)
                        .asks((request, location) -> delete(request, "l") + " " + write(request, "l", "dw"))
                        .gets("deleted IllegalStateException")
                        .because("deleted is deleted: a mistake of the application, and said so"));
    }
}

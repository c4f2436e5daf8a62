package dev.sluice.servlet.container;

import dev.sluice.testkit.TestForm;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.Part;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

final class PartQuestions {
    private static final byte[] SMALL = {'o', 'n', 'e'};
    private static final byte[] LARGE = TestForm.noise(100_000, 1);

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
                .sends(new TestForm().part("Content-Disposition: form-data; name=\"f\"" + parameters, "x"))
                .asks(request -> String.valueOf(request.getPart("f").getSubmittedFileName()));
    }

    private static List<Question> names() {
        return List.of(
                filename("an ordinary name", "; filename=\"a b.txt\""),
                filename("an unquoted name", "; filename=a.txt"),
                filename("a part without a file name", ""),
                filename("an escaped quote", "; filename=\"a\\\"b.txt\""),
                filename("an escaped backslash", "; filename=\"a\\\\b.txt\""),
                filename("a Windows path with single backslashes", "; filename=\"C:\\dir\\new.txt\""),
                filename("a path that contains ../", "; filename=\"../../etc/passwd\""),
                filename("a UTF-8 name", "; filename=\"naïve-日本.txt\""),
                filename("a quote that a browser escaped as %22", "; filename=\"a%22b.txt\""),
                filename("a plus sign", "; filename=\"a+b.txt\""),
                filename("a semicolon in quotes", "; filename=\"a;b=c.txt\""),
                filename("filename* alone", "; filename*=UTF-8''na%C3%AFve+.txt"),
                filename("filename* next to filename", "; filename=\"plain.txt\"; filename*=UTF-8''star.txt"),
                filename("filename* in ISO-8859-1", "; filename*=ISO-8859-1'en'%A3.txt"),
                filename("filename* with a broken escape", "; filename*=UTF-8''a%zz.txt"),
                filename("an RFC 2047 encoded word", "; filename=\"=?UTF-8?B?YS50eHQ=?=\""),
                filename("two filename parameters", "; filename=\"a.txt\"; filename=\"b.txt\""),
                filename("a name with a control character", "; filename=\"\u0001\""),
                Question.that("getSubmittedFileName, if header and parameter names are in upper case")
                        .sends(new TestForm()
                                .part("content-disposition: FORM-DATA; NAME=\"f\"; FileName=\"A.txt\"", "x"))
                        .asks(request -> request.getPart("f").getSubmittedFileName()),
                Question.that("getPart returns the first of two parts with the same name")
                        .sends(new TestForm().file("f", "1.txt", SMALL).file("f", "2.txt", SMALL))
                        .asks(request ->
                                request.getPart("f").getSubmittedFileName() + " " + CallResults.parts(request)),
                Question.that("getPart of a name that does not exist")
                        .sends(new TestForm().field("a", "1"))
                        .asks(request -> String.valueOf(request.getPart("b"))),
                Question.that("getPart(null)")
                        .sends(new TestForm().field("a", "1"))
                        .asks(request -> CallResults.attempt(() -> request.getPart(null))));
    }

    private static List<Question> headers() {
        TestForm form = new TestForm()
                .part(
                        "Content-Disposition: form-data; name=\"f\"; filename=\"f\"\r\ncontent-type: text/html; x=y\r\n"
                                + "X-Two: 1\r\nX-Two: 2\r\nX-Text: ä",
                        "x");
        return List.of(
                Question.that("getContentType returns the header with its parameters")
                        .sends(form)
                        .asks(request -> request.getPart("f").getContentType()),
                Question.that("getContentType of a part without the header")
                        .sends(new TestForm().field("a", "1"))
                        .asks(request -> String.valueOf(request.getPart("a").getContentType())),
                Question.that("getHeader: name in another case, repeated header, missing header")
                        .sends(form)
                        .asks(request -> request.getPart("f").getHeader("CONTENT-TYPE") + " "
                                + request.getPart("f").getHeader("x-two") + " "
                                + request.getPart("f").getHeader("x-three")),
                Question.that("getHeaders of a repeated header")
                        .sends(form)
                        .asks(request -> List.copyOf(request.getPart("f").getHeaders("x-two"))
                                .toString()),
                Question.that("getHeaders of a header that does not exist")
                        .sends(form)
                        .asks(request -> CallResults.attempt(
                                () -> request.getPart("f").getHeaders("x-three").size())),
                Question.that("getHeaderNames: each name once")
                        .sends(form)
                        .asks(request -> CallResults.names(request.getPart("f").getHeaderNames())),
                Question.that("charset of a header")
                        .sends(form)
                        .asks(request -> request.getPart("f").getHeader("x-text")),
                Question.that("getHeader of a folded header")
                        .sends(new TestForm()
                                .part("Content-Disposition: form-data;\r\n name=\"a\"\r\nX-Long: b\r\n  c", "1"))
                        .asks(request -> request.getPart("a").getHeader("x-long")));
    }

    private static List<Question> content() {
        TestForm form = new TestForm()
                .file("s", "s.bin", SMALL)
                .file("l", "l.bin", LARGE)
                .file("e", "e.bin", new byte[0]);
        return List.of(
                Question.that("getSize of small, large and empty files")
                        .sends(form)
                        .asks(request -> CallResults.parts(request)),
                Question.that("getInputStream called twice, both streams read to the end")
                        .sends(form)
                        .asks(request -> {
                            Part part = request.getPart("l");
                            return request.getPart("l").getInputStream().readAllBytes().length + " "
                                    + java.util.Arrays.equals(
                                            LARGE, part.getInputStream().readAllBytes());
                        }),
                Question.that("two streams of one part are independent")
                        .sends(form)
                        .asks(request -> {
                            Part part = request.getPart("s");
                            try (InputStream one = part.getInputStream();
                                    InputStream two = part.getInputStream()) {
                                return "" + (char) one.read() + (char) one.read() + (char) two.read();
                            }
                        }),
                Question.that("getParts returns the same parts when called again")
                        .sends(form)
                        .asks(request -> {
                            List<Part> first = List.copyOf(request.getParts());
                            return "" + first.equals(List.copyOf(request.getParts()));
                        }),
                Question.that("getPart returns a part of getParts")
                        .sends(form)
                        .asks(request -> "" + request.getParts().contains(request.getPart("s"))),
                Question.that("number of parts after clearing the collection from getParts")
                        .sends(form)
                        .asks(request -> {
                            Collection<Part> parts = request.getParts();
                            CallResults.attempt(() -> {
                                parts.clear();
                                return null;
                            });
                            return "" + request.getParts().size();
                        }),
                Question.that("content of a part with Content-Transfer-Encoding: base64")
                        .sends(new TestForm()
                                .part(
                                        "Content-Disposition: form-data; name=\"f\"; filename=\"f\"\r\n"
                                                + "Content-Transfer-Encoding: base64",
                                        "YWJj"))
                        .asks(request -> CallResults.text(request.getPart("f"))));
    }

    private static String write(HttpServletRequest request, String name, String target) {
        return CallResults.attempt(() -> {
            request.getPart(name).write(target);
            return "written";
        });
    }

    private static String delete(HttpServletRequest request, String name) {
        return CallResults.attempt(() -> {
            request.getPart(name).delete();
            return "deleted";
        });
    }

    private static String size(Path path) {
        return CallResults.attempt(() -> {
            boolean there = Files.exists(path);
            return there ? Files.size(path) + " bytes" : "no file";
        });
    }

    private static List<Question> files() {
        TestForm form = new TestForm()
                .file("s", "s.bin", SMALL)
                .file("l", "l.bin", LARGE)
                .field("a", "text");
        return List.of(
                Question.that("write to a relative name: a file in the location, for parts in memory and on disk")
                        .sends(form)
                        .asks((request, location) -> write(request, "s", "rs") + " " + write(request, "l", "rl") + " "
                                + size(location.resolve("rs")) + " " + size(location.resolve("rl"))),
                Question.that("write to an absolute path").sends(form).asks((request, location) -> {
                    Path target = location.resolveSibling("absolute-" + location.getFileName());
                    return write(request, "l", target.toString()) + " " + size(target);
                }),
                Question.that("write to a relative name that leaves the location (`../`)")
                        .sends(form)
                        .asks((request, location) -> {
                            Path target = location.resolveSibling("climbed-" + location.getFileName());
                            return write(request, "l", "../" + target.getFileName()) + " " + size(target);
                        }),
                Question.that("write to a name with a directory that does not exist")
                        .sends(form)
                        .asks(request -> write(request, "s", "none/s")),
                Question.that("write to a file that exists").sends(form).asks((request, location) -> {
                    Files.writeString(location.resolve("exists"), "an existing file");
                    return write(request, "s", "exists") + " " + size(location.resolve("exists"));
                }),
                Question.that("write of a field")
                        .sends(form)
                        .asks((request, location) ->
                                write(request, "a", "field") + " " + size(location.resolve("field"))),
                Question.that("write twice")
                        .sends(form)
                        .asks((request, location) -> write(request, "l", "t1") + " " + write(request, "l", "t2") + " "
                                + size(location.resolve("t1")) + " " + size(location.resolve("t2"))),
                Question.that("getInputStream after write")
                        .sends(form)
                        .asks(request -> write(request, "l", "w") + " "
                                + CallResults.attempt(() ->
                                        request.getPart("l").getInputStream().readAllBytes().length)),
                Question.that("getSize after write")
                        .sends(form)
                        .asks(request -> write(request, "l", "ws") + " "
                                + CallResults.attempt(() -> request.getPart("l").getSize())),
                Question.that("delete after write: the written file")
                        .sends(form)
                        .asks((request, location) -> write(request, "l", "wd") + " " + delete(request, "l") + " "
                                + size(location.resolve("wd"))),
                Question.that("getInputStream after delete")
                        .sends(form)
                        .asks(request -> delete(request, "s") + " " + delete(request, "l") + " "
                                + CallResults.attempt(() ->
                                        request.getPart("s").getInputStream().readAllBytes().length) + " "
                                + CallResults.attempt(() ->
                                        request.getPart("l").getInputStream().readAllBytes().length)),
                Question.that("delete twice")
                        .sends(form)
                        .asks(request -> delete(request, "l") + " " + delete(request, "l")),
                Question.that("write after delete")
                        .sends(form)
                        .asks(request -> delete(request, "l") + " " + write(request, "l", "dw")));
    }
}

package dev.sluice.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.MultipartReader;
import dev.sluice.form.FormOptions;
import dev.sluice.testkit.LimitCase;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every limit, at one less, exactly and one more, through every face of the filter; the core has the same test for its own. */
class FilterLimitsTest {
    @TempDir
    private Path directory;

    /** Ways to the form of a request. */
    enum Face {
        PARTS {
            @Override
            void take(HttpServletRequest request, HttpServletResponse response) throws Exception {
                request.getParts();
                print(response, "fine");
            }
        },
        PARAMETERS {
            @Override
            void take(HttpServletRequest request, HttpServletResponse response) throws Exception {
                request.getParameterMap();
                print(response, "fine");
            }
        },
        READER {
            @Override
            void take(HttpServletRequest request, HttpServletResponse response) throws Exception {
                try (MultipartReader reader = MultipartRequests.reader(request)) {
                    for (MultipartReader.Part part; (part = reader.nextPart()) != null; ) {
                        part.transferTo(OutputStream.nullOutputStream());
                    }
                }
                print(response, "fine");
            }
        },
        ASYNC_FORM {
            @Override
            void take(HttpServletRequest request, HttpServletResponse response) throws Exception {
                AsyncContext context = request.startAsync();
                MultipartRequests.receive(request).completion().whenComplete((form, failure) -> {
                    print(response, failure == null ? "fine" : told(failure));
                    context.complete();
                });
            }
        };

        abstract void take(HttpServletRequest request, HttpServletResponse response) throws Exception;
    }

    private static void print(HttpServletResponse response, String text) {
        try {
            response.getWriter().print(text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String told(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof MultipartException refused) {
                return refused.httpStatus() + " " + refused.reason() + " " + refused.offset() + " "
                        + refused.partIndex() + " " + refused.getMessage();
            }
        }
        return failure.toString();
    }

    private static FormOptions.Builder limited(FormOptions.Builder builder, LimitCase limit) {
        try {
            return (FormOptions.Builder) Arrays.stream(FormOptions.Builder.class.getMethods())
                    .filter(method -> method.getName().equals(limit.setting()))
                    .findFirst()
                    .orElseThrow()
                    .invoke(builder.maxHeadersPerPart(1000).maxFiles(1000), LimitCase.LIMIT);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(e.getMessage(), e);
        }
    }

    /** Chunked: what a Content-Length says is refused before it comes. */
    private static byte[] request(LimitCase limit, int used) {
        byte[] body = limit.body().apply(used);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        bytes.writeBytes(("POST / HTTP/1.1\r\nHost: x\r\nContent-Type: " + limit.contentType()
                        + "\r\nTransfer-Encoding: chunked\r\n\r\n" + Integer.toHexString(body.length) + "\r\n")
                .getBytes(StandardCharsets.US_ASCII));
        bytes.writeBytes(body);
        bytes.writeBytes("\r\n0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        return bytes.toByteArray();
    }

    static List<Arguments> everyLimitThroughEveryFace() {
        return LimitCase.all().stream()
                .flatMap(limit -> Stream.of(Face.values())
                        // the limit for text is for fields that are parameters
                        .filter(face -> !limit.text() || face == Face.PARAMETERS && !limit.file())
                        .map(face -> Arguments.of(limit, face)))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("everyLimitThroughEveryFace")
    void aLimitPassesUpToItsValueAndFailsOneBeyondAtThatByte(LimitCase limit, Face face) throws Exception {
        JettyApp app = new JettyApp(directory);
        try {
            app.options(options -> limited(options, limit));
            app.on("/*", (request, response) -> {
                try {
                    face.take(request, response);
                } catch (MultipartRequestException | MultipartException e) {
                    print(response, told(e));
                }
            });
            app.start();
            assertEquals("fine", ask(app, limit, LimitCase.LIMIT - 1));
            assertEquals("fine", ask(app, limit, LimitCase.LIMIT));
            String beyond = ask(app, limit, LimitCase.LIMIT + 1);
            if (limit.reason() == null) {
                assertEquals("fine", beyond, "nothing of what is limited");
                return;
            }
            String expected = "413 " + limit.reason() + " " + limit.offset() + " " + limit.part() + " ";
            assertTrue(beyond.startsWith(expected), expected + "| " + beyond);
            assertTrue(beyond.contains(" exceeds the limit of " + LimitCase.LIMIT), beyond);
            assertTrue(beyond.contains("(" + limit.setting() + "; "), beyond);
        } finally {
            app.close();
        }
    }

    private static String ask(JettyApp app, LimitCase limit, int used) throws IOException {
        try (RawClient client = app.connect()) {
            return client.send(request(limit, used)).answer().body();
        }
    }
}

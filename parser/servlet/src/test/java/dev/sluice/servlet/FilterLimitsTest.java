package dev.sluice.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.MultipartReader;
import dev.sluice.form.FormOptions;
import dev.sluice.servlet.container.App;
import dev.sluice.testkit.LimitCase;
import dev.sluice.testkit.TestForm;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every limit through every API of the filter, with a body one below, at and one above the limit. */
class FilterLimitsTest {
    @TempDir
    private static Path directory;

    private static App app;

    @BeforeAll
    static void open() throws Exception {
        app = new App(directory).startForMany();
    }

    @AfterAll
    static void close() throws IOException {
        app.close();
    }

    /** The APIs that give access to a form. */
    enum Api {
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
                    print(response, failure == null ? "fine" : describe(failure));
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

    private static String describe(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof MultipartException rejected) {
                return rejected.httpStatus() + " " + rejected.reason() + " " + rejected.offset() + " "
                        + rejected.partIndex() + " " + rejected.getMessage();
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

    /** Sends the body in chunks, because the filter rejects a large Content-Length before the body. */
    private static byte[] request(LimitCase limit, int used) {
        byte[] body = limit.body().apply(used);
        return TestForm.join(
                TestForm.headOf("POST", "/", "Content-Type: " + limit.contentType(), "Transfer-Encoding: chunked"),
                TestForm.chunked(body, body.length));
    }

    static List<Arguments> everyLimitThroughEveryApi() {
        return LimitCase.all().stream()
                .flatMap(limit -> Stream.of(Api.values())
                        // the limit for text applies only to parameters
                        .filter(api -> !limit.text() || api == Api.PARAMETERS && !limit.file())
                        .map(api -> Arguments.of(limit, api)))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("everyLimitThroughEveryApi")
    void limit_exactValueIsAccepted_oneMoreIsRejected(LimitCase limit, Api api) throws Exception {
        SluiceFilter filter = app.next(
                SluiceFilter.of(limited(app.formOptions().toBuilder(), limit).build()));
        app.on((request, response) -> {
            try {
                api.take(request, response);
            } catch (MultipartRequestException | MultipartException e) {
                print(response, describe(e));
            }
        });
        assertEquals("fine", ask(limit, LimitCase.LIMIT - 1));
        assertEquals("fine", ask(limit, LimitCase.LIMIT));
        String beyond = ask(limit, LimitCase.LIMIT + 1);
        app.assertNothingLeft(limit);
        filter.destroy();
        if (limit.reason() == null) {
            assertEquals("fine", beyond, "rejected, although the API does not use the limited property");
            return;
        }
        String expected = "413 " + limit.reason() + " " + limit.offset() + " " + limit.part() + " ";
        assertTrue(beyond.startsWith(expected), expected + "| " + beyond);
        assertTrue(beyond.contains(" exceeds the limit of " + LimitCase.LIMIT), beyond);
        assertTrue(beyond.contains("(" + limit.setting() + "; "), beyond);
    }

    private static String ask(LimitCase limit, int used) throws IOException {
        return app.send(request(limit, used)).body();
    }
}

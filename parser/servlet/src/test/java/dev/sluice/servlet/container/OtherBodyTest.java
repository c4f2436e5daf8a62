package dev.sluice.servlet.container;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.servlet.MultipartRequestException;
import dev.sluice.servlet.MultipartRequests;
import dev.sluice.testkit.RawHttp;
import dev.sluice.testkit.TestForm;
import jakarta.servlet.ServletException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Bodies that are not multipart, and unusual calls for forms. If the body is not multipart, the filter rejects calls for
 * a form, and leaves all other calls to the container.
 */
@Timeout(60)
class OtherBodyTest extends AppTestBase {
    private static final byte[] JSON = "{}".getBytes(StandardCharsets.US_ASCII);

    private RawHttp.Response json(String target) throws IOException {
        return app.send(TestForm.request("POST", target, "application/json", JSON));
    }

    @ParameterizedTest
    @EnumSource
    void json_anyCallForAForm_isAnsweredWith415(ServletContainer kind) throws Exception {
        app.on("/parts", (request, response) -> request.getParts())
                .on("/part", (request, response) -> request.getPart("f"))
                .on("/blocking", (request, response) -> MultipartRequests.form(request))
                .on("/reader", (request, response) -> MultipartRequests.reader(request))
                .on("/async", (request, response) -> {
                    request.startAsync().setTimeout(0);
                    MultipartRequests.receive(request);
                })
                .errorPage((request, response) ->
                        response.getWriter().print(request.getAttribute("jakarta.servlet.error.message")));
        app.start(kind);
        for (String target : List.of("/parts", "/part", "/blocking", "/reader", "/async")) {
            RawHttp.Response answer = json(target);
            assertEquals(415, answer.status(), target);
            assertEquals("the Content-Type is not multipart/form-data: application/json", answer.body(), target);
        }
    }

    @Test
    void json_getParts_throwsServletException() throws Exception {
        app.on((request, response) -> {
            ServletException thrown = assertThrows(ServletException.class, request::getParts);
            MultipartRequestException rejection = assertInstanceOf(MultipartRequestException.class, thrown.getCause());
            MultipartException reason = assertInstanceOf(MultipartException.class, rejection.getCause());
            assertEquals(Reason.UNSUPPORTED_MEDIA_TYPE, reason.reason());
            assertEquals(415, rejection.httpStatus());
            assertEquals(2, request.getInputStream().readAllBytes().length);
            response.getWriter().print("own answer");
        });
        app.start();
        assertEquals("own answer", json("/").body());
    }

    /** The application decodes another body, for example from a queue. Its exception is not about the request. */
    @ParameterizedTest
    @EnumSource
    void json_multipartExceptionOfApplication_isNotAnswered(ServletContainer kind) throws Exception {
        MultipartException own = MultipartException.because(Reason.TRUNCATED).build();
        app.on((request, response) -> {
            throw own;
        });
        app.start(kind);
        assertEquals(500, json("/").status());
        assertSame(own, app.thrown().poll());
    }

    @Test
    void form_missingOrTooLargeField_isAnswered() throws Exception {
        app.options(options -> options.maxFieldBytes(3));
        app.on(
                "/missing",
                (request, response) -> MultipartRequests.form(request).requireText("b"));
        app.on(
                "/large",
                (request, response) ->
                        MultipartRequests.form(request).parts().get(0).text());
        app.start();
        TestForm form = new TestForm().field("a", "1234");
        assertEquals(400, app.post("/missing", form).status());
        assertEquals(413, app.post("/large", form).status());
    }

    @Test
    void form_rejectedThenReadRaw_throwsTheRejection() throws Exception {
        app.on((request, response) -> {
            MultipartRequestException first = assertThrows(MultipartRequestException.class, request::getParts);
            assertSame(first, assertThrows(MultipartRequestException.class, request::getInputStream));
            assertSame(first, assertThrows(MultipartRequestException.class, request::getReader));
            response.getWriter().print("own answer");
        });
        app.start();
        assertEquals("own answer", app.post("/", TestForm.malformed()).body());
    }

    /** Each container parses the charset parameter of the Content-Type in its own way. */
    @ParameterizedTest
    @EnumSource
    void form_charsetOfRequest_isIgnored(ServletContainer kind) throws Exception {
        app.on((request, response) ->
                response.getWriter().print(request.getParameter("a").length()));
        app.start(kind);
        List<String> charsets = new ArrayList<>(List.of("charset=windows-1252", "Charset=\"windows-1252\""));
        if (kind != ServletContainer.JETTY) { // Jetty does not unescape the name of the charset, and rejects the form
            charsets.add("charset=\"windows\\-1252\"");
        }
        for (String charset : charsets) {
            byte[] body = new TestForm().field("a", "é").body();
            RawHttp.Response answer =
                    app.send(TestForm.request("POST", "/", TestForm.CONTENT_TYPE + "; " + charset, body));
            assertEquals("1", answer.body(), charset);
        }
    }

    @Test
    void form_withOptionsAfterGetParts_throwsWithAdvice() throws Exception {
        app.on((request, response) -> {
            request.getParts();
            IllegalStateException thrown = assertThrows(
                    IllegalStateException.class, () -> MultipartRequests.form(request, options -> options));
            assertTrue(thrown.getMessage().contains("MultipartRequests.form(request)"), thrown::toString);
            assertTrue(thrown.getMessage().contains("resolve-lazily=true"), thrown::toString);
            response.getWriter().print(MultipartRequests.form(request).parts().size());
        });
        app.start();
        assertEquals("1", app.post("/", new TestForm().field("a", "1")).body());
    }
}

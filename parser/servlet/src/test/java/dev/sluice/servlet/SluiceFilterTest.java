package dev.sluice.servlet;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.MultipartReader;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartDecision;
import dev.sluice.servlet.RequestForm.BodyOwner;
import dev.sluice.servlet.container.AppTestBase;
import dev.sluice.servlet.container.Work;
import dev.sluice.testkit.Eventually;
import dev.sluice.testkit.RawHttp;
import dev.sluice.testkit.TestForm;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SluiceFilterTest extends AppTestBase {
    private static final TestForm FORM = new TestForm()
            .field("a", "1")
            .file("f", "C:\\é.txt", new byte[100_000])
            .field("a", "2");

    /** Starts an application whose servlet runs {@code service}, and posts {@code body} to it. */
    private RawHttp.Response ask(TestForm body, Work service) throws Exception {
        return ask("/", body, service);
    }

    private void startEager() throws Exception {
        app.start(SluiceFilter.builder(app.formOptions()).eager().build());
    }

    private RawHttp.Response ask(String target, TestForm body, Work service) throws Exception {
        app.on(service).start();
        return app.post(target, body);
    }

    @Test
    void otherRequests_passUnwrapped() throws Exception {
        List<HttpServletRequest> seen = new ArrayList<>();
        app.on((request, response) -> {
            seen.add(request);
            response.getWriter().print(request instanceof HttpServletRequestWrapper);
        });
        app.start(SluiceFilter.builder(app.formOptions())
                .refuseOtherMultipart(false)
                .build());
        String[][] others = {
            {"GET", TestForm.CONTENT_TYPE},
            {"DELETE", TestForm.CONTENT_TYPE},
            {"post", TestForm.CONTENT_TYPE},
            {"POST", "multipart/form-data2; boundary=" + TestForm.BOUNDARY},
            {"POST", "multipart/mixed; boundary=" + TestForm.BOUNDARY},
            {"POST", "multipart/*; boundary=" + TestForm.BOUNDARY},
            {"GET", "application/x-www-form-urlencoded"},
        };
        for (String[] other : others) {
            byte[] request = TestForm.request(other[0], "/", other[1], FORM.body());
            assertEquals("false", app.send(request).body(), String.join(" ", other));
        }
        for (String method : List.of("POST", "PUT", "PATCH")) {
            String type = "Multipart/FORM-data ;boundary=" + TestForm.BOUNDARY;
            assertEquals(
                    "true",
                    app.send(TestForm.request(method, "/", type, FORM.body())).body(),
                    method);
        }
        assertEquals(10, seen.size());
    }

    @Test
    void eager_rejectedForm_doesNotReachServlet() throws Exception {
        app.on((request, response) -> {
            throw new AssertionError("the servlet was called");
        });
        startEager();
        assertEquals(400, app.post("/", TestForm.malformed()).status());
        assertTrue(app.thrown().isEmpty());
    }

    @Test
    void eager_errorPage_canForward() throws Exception {
        app.errorPage((request, response) -> {
            try {
                request.getRequestDispatcher("/page").forward(request, response);
            } catch (ServletException e) {
                throw new IOException(e);
            }
        });
        app.on("/page", (request, response) -> response.getWriter().print("the page"));
        startEager();
        RawHttp.Response answer = app.send(TestForm.request("POST", "/", "multipart/mixed; boundary=x", FORM.body()));
        assertEquals("415 the page", answer.status() + " " + answer.body());
    }

    @Test
    void malformedQuery_isRejected() throws Exception {
        RawHttp.Response answer = ask(
                "/?x=%88%A4", FORM, (request, response) -> response.getWriter().print(request.getParameter("x")));
        assertEquals(400, answer.status());
    }

    @ParameterizedTest
    @ValueSource(strings = {"UTF-16", "IBM037"})
    void requestCharset_withoutAscii_isIgnored(String charset) throws Exception {
        app.on((request, response) -> response.getWriter().print(request.getParameter("a")))
                .start();
        String type = TestForm.CONTENT_TYPE + "; charset=" + charset;
        assertEquals(
                "1", app.send(TestForm.request("POST", "/", type, FORM.body())).body());
    }

    /** The second parameter is not the charset, like a boundary that contains the word. */
    @ParameterizedTest
    @ValueSource(strings = {"; charset=UTF-8", "; x=charset"})
    void characterEncoding_setBeforeTheFilter_appliesToText(String parameter) throws Exception {
        app.before((request, response, chain) -> {
            request.setCharacterEncoding("windows-1252");
            chain.doFilter(request, response);
        });
        app.on((request, response) ->
                response.getWriter().print((int) request.getParameter("a").charAt(0)));
        app.start();
        byte[] body = new TestForm()
                .part("Content-Disposition: form-data; name=\"a\"", new byte[] {(byte) 0x80})
                .body();
        assertEquals(
                String.valueOf((int) '\u20AC'),
                app.send(TestForm.request("POST", "/", TestForm.CONTENT_TYPE + parameter, body))
                        .body());
    }

    @Test
    void query_withUnescapedCharacters_keepsThem() {
        assertArrayEquals(
                new String[] {"\u65E5 x"},
                QueryString.parameters("q=\u65E5%20x", null, true).get("q"));
    }

    /** {@link MultipartRequests#receive} claims the body, and gives it back if it fails. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void body_whileAnotherThreadClaimsItAndGivesItBack_isParsedOrTaken() throws Exception {
        app.on((request, response) -> {
            RequestState state = RequestState.of(request);
            HttpServletRequest unreadable = new HttpServletRequestWrapper(request) {
                @Override
                public ServletInputStream getInputStream() throws IOException {
                    throw new IOException("on purpose");
                }
            };
            AtomicReference<RequestForm> current = new AtomicReference<>(state.form);
            CompletableFuture<Void> other = CompletableFuture.runAsync(() -> {
                for (RequestForm body; (body = current.get()) != null; ) {
                    if (body.claim(BodyOwner.ASYNC_FORM) == BodyOwner.NONE) {
                        body.unclaim(BodyOwner.ASYNC_FORM);
                    }
                }
            });
            long end = System.nanoTime() + Duration.ofSeconds(5).toNanos();
            try {
                for (int i = 0; i < 5000 && System.nanoTime() < end; i++) {
                    RequestForm body = new RequestForm(unreadable, state.form.service(), state.lease);
                    current.set(body);
                    while (!body.isClaimed()) {
                        Thread.onSpinWait();
                    }
                    while (!body.future.isDone()) {
                        assertThrows(Exception.class, body::parsed);
                    }
                    RequestState fresh = RequestState.attach(unreadable, state.form.service());
                    current.set(fresh.form);
                    while (!fresh.form.isClaimed()) {
                        Thread.onSpinWait();
                    }
                    HttpServletRequest filtered = new MultipartRequest(unreadable, fresh);
                    while (!(assertThrows(Exception.class, filtered::getInputStream) instanceof IOException)) {}
                    assertEquals(BodyOwner.APPLICATION, fresh.form.claim(BodyOwner.READER), "the body was not claimed");
                    fresh.requestEnded();
                }
            } finally {
                current.set(null);
            }
            other.join();
        });
        app.start();
        assertEquals(200, app.post("/", FORM).status());
    }

    /** Servlet 6.1 has a method for a {@code Charset}, in addition to the method for its name. */
    @Test
    void setCharacterEncoding_charset_appliesToText() throws Exception {
        app.on((request, response) -> {
            request.setCharacterEncoding(StandardCharsets.ISO_8859_1);
            response.getWriter().print((int) request.getParameter("a").charAt(0));
        });
        app.start();
        byte[] body = new TestForm()
                .part("Content-Disposition: form-data; name=\"a\"", new byte[] {(byte) 0xE4})
                .body();
        String type = TestForm.CONTENT_TYPE + "; charset=UTF-8";
        assertEquals(
                String.valueOf(0xE4),
                app.send(TestForm.request("POST", "/", type, body)).body());
    }

    @Test
    void eager_formIsParsedBeforeServlet() throws Exception {
        app.on((request, response) -> response.getWriter().print(app.spool.files() + request.getParameter("a")));
        startEager();
        assertEquals("11", app.post("/", FORM).body());
    }

    @Test
    void headerNames_repeatedInOtherCase_haveFirstSpelling() throws Exception {
        RawHttp.Response answer = ask(
                new TestForm().part("Content-Disposition: form-data; name=\"a\"\r\nX-Y: 1\r\nx-y: 2", "v"),
                (request, response) ->
                        response.getWriter().print(request.getPart("a").getHeaderNames()));
        assertEquals("[Content-Disposition, X-Y]", answer.body());
    }

    // ---- writing

    @Test
    void write_nameOutsideLocation_isRejected() throws Exception {
        RawHttp.Response answer = ask(FORM, (request, response) -> {
            for (String name : List.of("../x", "a/../../x", "", ".", "..")) {
                assertThrows(IOException.class, () -> request.getPart("f").write(name), name);
            }
            assertThrows(IOException.class, () -> request.getPart("f").write("a\0b"));
            response.getWriter().print("ok");
        });
        assertEquals("ok", answer.body());
    }

    /** Without the check, a rename would replace a location that is a link to a directory. */
    @ParameterizedTest
    @ValueSource(strings = {"", ".", "a/.."})
    void write_nameOfLocationItself_isRejected(String name) throws Exception {
        Path location = Files.createSymbolicLink(
                directory.resolve("location"), Files.createDirectory(directory.resolve("linked")));
        app.on((request, response) -> {
            assertThrows(IOException.class, () -> request.getPart("f").write(name));
            response.getWriter().print(request.getPart("f").getSize());
        });
        app.start(SluiceFilter.builder(app.formOptions()).location(location).build());
        assertEquals("100000", app.post("/", FORM).body());
        assertTrue(Files.isDirectory(location));
    }

    @Test
    void write_withoutSpool_usesTempDirectory() throws Exception {
        app.on((request, response) -> {
            request.getPart("a").write("small.txt");
            response.getWriter().print("ok");
        });
        app.start(SluiceFilter.of(FormOptions.inMemory(app.memory).build()));
        assertEquals("ok", app.post("/", new TestForm().field("a", "v")).body());
        Path temporary = directory.resolve("container");
        assertEquals("v", Files.readString(temporary.resolve("small.txt")));
    }

    // ---- owners of the body

    @Test
    void field_deletedOrWritten_remainsParameter() throws Exception {
        app.on((request, response) -> {
            if (request.getQueryString() == null) {
                request.getPart("a").delete();
            } else {
                request.getPart("b").write("b.txt");
            }
            response.getWriter().print(request.getParameter("a") + request.getParameter("b"));
        });
        app.start();
        for (String target : List.of("/", "/?write")) {
            TestForm body = new TestForm().field("a", "1").field("b", "2").file("f", "f.txt", new byte[10]);
            assertEquals("12", app.post(target, body).body(), target);
        }
    }

    private static class Http2Request extends HttpServletRequestWrapper {
        Http2Request(HttpServletRequest request) {
            super(request);
        }

        @Override
        public String getProtocol() {
            return "HTTP/2.0";
        }
    }

    @Test
    void http2Body_withoutLength_isDetected() throws Exception {
        app.wrap(request -> new Http2Request(request) {
            @Override
            public String getMethod() {
                return "GET";
            }

            @Override
            public long getContentLengthLong() {
                return -1;
            }
        });
        assertEquals(405, ask(FORM, (request, response) -> {}).status());
    }

    @Test
    void getInputStream_called_leavesOnlyQueryParameters() throws Exception {
        RawHttp.Response answer = ask("/?q=1", FORM, (request, response) -> {
            assertTrue(request.getInputStream().readAllBytes().length > 100_000);
            assertThrows(IllegalStateException.class, request::getParts);
            assertThrows(IllegalStateException.class, () -> MultipartRequests.reader(request));
            assertThrows(IllegalStateException.class, () -> MultipartRequests.receive(request));
            assertEquals(List.of("q"), Collections.list(request.getParameterNames()));
            assertNull(request.getParameter("a"));
            request.getInputStream();
            response.getWriter().print("ok");
        });
        assertEquals("ok", answer.body());
    }

    @Test
    void reader_readsBodyPartByPart() throws Exception {
        RawHttp.Response answer = ask("/?q=1", FORM, (request, response) -> {
            try (MultipartReader reader = MultipartRequests.reader(request)) {
                assertThrows(IllegalStateException.class, request::getParts);
                assertThrows(IllegalStateException.class, request::getInputStream);
                assertEquals("1", request.getParameter("q"));
                assertNull(request.getParameter("a"));
                StringBuilder names = new StringBuilder();
                for (MultipartReader.Part part; (part = reader.nextPart()) != null; ) {
                    names.append(part.name());
                }
                response.getWriter().print(names);
            }
            assertThrows(IllegalStateException.class, () -> MultipartRequests.reader(request));
            assertEquals(0, app.spool.files());
        });
        assertEquals("afa", answer.body());
    }

    @Test
    void reader_withoutFilter_usesDefaults() throws Exception {
        app.on((request, response) -> {
            assertThrows(IllegalStateException.class, () -> MultipartRequests.form(request));
            assertThrows(IllegalStateException.class, () -> MultipartRequests.hold(request));
            try (MultipartReader reader = MultipartRequests.reader(request)) {
                response.getWriter().print(reader.nextPart().text());
            }
        });
        app.startBare();
        assertEquals("1", app.post("/", FORM).body());
    }

    @Test
    void form_usesOwnOptions() throws Exception {
        RawHttp.Response answer = ask(FORM, (request, response) -> {
            MultipartForm form = MultipartRequests.form(
                    request,
                    options -> options.decider(part -> part.filename() == null
                            ? PartDecision.storeInMemory()
                            : PartDecision.skip(422, "no files")));
            assertSame(form, MultipartRequests.form(request));
            assertThrows(IllegalStateException.class, () -> MultipartRequests.form(request, options -> options));
            response.getWriter()
                    .print(form.skipped().get(0).httpStatus() + " "
                            + request.getParts().size());
        });
        assertEquals("422 2", answer.body());
    }

    @Test
    void decider_requestsForm_throws() throws Exception {
        RawHttp.Response answer = ask(
                FORM,
                (request, response) -> MultipartRequests.form(
                        request,
                        options -> options.decider(part -> {
                            request.getParameter("a");
                            return PartDecision.skip();
                        })));
        assertEquals(500, answer.status());
        assertTrue(app.thrown().peek().getMessage().contains("the calling thread is parsing the form"));
    }

    @Test
    void decider_throws_isNotWrapped() throws Exception {
        RawHttp.Response answer = ask(
                FORM,
                (request, response) -> MultipartRequests.form(
                        request,
                        options -> options.decider(part -> {
                            throw new ArithmeticException("mine");
                        })));
        assertEquals(500, answer.status());
        assertInstanceOf(ArithmeticException.class, app.thrown().peek());
    }

    // ---- errors

    @Test
    void rejectionByApplication_bodyNotRead_closesConnection() throws Exception {
        RawHttp.Response answer = ask(FORM, (request, response) -> {
            throw MultipartException.because(MultipartException.Reason.PART_REFUSED)
                    .build();
        });
        assertEquals("close", answer.headers().get("connection"));
    }

    private void assertRejected(int status, String word, TestForm body) throws Exception {
        RawHttp.Response answer = ask(body, (request, response) -> request.getParts());
        assertEquals(status, answer.status(), answer.body());
        assertTrue(answer.body().contains(word), answer.body());
        MultipartRequestException known =
                assertInstanceOf(MultipartRequestException.class, app.thrown().peek());
        assertEquals(status, known.httpStatus());
        assertNotNull(known.getCause());
    }

    @Test
    void headerCharset_configured_ignoresCharsetOfRequest() throws Exception {
        app.options(builder -> builder.headerCharset(StandardCharsets.ISO_8859_1));
        app.on((request, response) -> {
            request.setCharacterEncoding("windows-1251");
            boolean configured = request.getPart("\u00C3\u00A9") != null; // the bytes of an e with an accent in UTF-8
            response.getWriter().print(configured);
        });
        app.start();
        assertEquals("true", app.post("/", new TestForm().field("\u00E9", "v")).body());
    }

    @Test
    void bodyTooLarge_isAnsweredWith413() throws Exception {
        app.options(builder -> builder.maxBodyBytes(1000));
        assertRejected(413, "maxBodyBytes", FORM);
        RawHttp.Response response = app.send(TestForm.chunked("/", FORM.body(), 1 << 20));
        assertEquals(413, response.status());
        assertTrue(response.body().contains("maxBodyBytes"), response.body());
        assertNull(response.headers().get("connection"), "the connection was closed although the body was read");
        assertTrue(app.thrown().stream()
                .allMatch(e -> e.getMessage().contains("size") && e.getMessage().contains("exceeds")));
    }

    @Test
    void rejectedBody_largeRest_closesConnection() throws Exception {
        app.options(builder -> builder.maxBodyBytes(1000).maxDrainBytes(5000));
        app.on((request, response) -> request.getParts()).start();
        try (RawHttp client = app.connect()) {
            client.send(TestForm.head("/", 1 << 30)).send(FORM.open());
            RawHttp.Response answer = client.response();
            assertEquals(413, answer.status());
            assertEquals("close", answer.headers().get("connection"));
            client.awaitEnd();
        }
    }

    /** HTTP/2 clients treat a {@code Connection} header as an error. */
    @Test
    void rejectedBody_overHttp2_keepsConnection() throws Exception {
        List<Boolean> closes = new ArrayList<>();
        app.options(builder -> builder.maxBodyBytes(1000).maxDrainBytes(0));
        app.wrap(Http2Request::new);
        app.on((request, response) -> request.getParts());
        app.on("/reader", (request, response) -> {
            try (MultipartReader reader = MultipartRequests.reader(request)) {
                while (reader.nextPart() != null) {}
            }
        });
        app.start(SluiceFilter.builder(app.formOptions())
                .rejectionHandler((request, response, rejection) -> {
                    closes.add(rejection.closesConnection());
                    return false;
                })
                .build());
        assertEquals(413, app.post("/", FORM).status());
        assertEquals(413, app.post("/reader", FORM).status());
        assertEquals(List.of(false, false), closes);
    }

    @Test
    void fieldTooLarge_isAnsweredWith413ForParametersOnly() throws Exception {
        app.options(builder -> builder.maxFieldBytes(3));
        app.on((request, response) -> {
            assertEquals(2, request.getParts().size());
            if (request.getQueryString() != null) {
                request.getPart("x").delete();
            }
            request.getParameter("x");
        });
        app.start();
        for (String target : List.of("/", "/?delete")) {
            RawHttp.Response answer =
                    app.post(target, new TestForm().field("x", "123").field("y", "1234"));
            assertEquals(413, answer.status(), answer.body());
            assertTrue(answer.body().contains("maxFieldBytes"), answer.body());
        }
    }

    @Test
    void fields_sumIsLimitedByMaxInMemoryBytes() throws Exception {
        app.options(builder -> builder.maxInMemoryBytes(20_000).spillThreshold(100));
        TestForm body = new TestForm();
        for (int i = 0; i < 5; i++) {
            body.field("f" + i, "x".repeat(5_000));
        }
        app.on((request, response) -> response.getWriter().print(request.getParameter("f4")))
                .start();
        RawHttp.Response answer = app.post("/", body);
        assertEquals(413, answer.status());
        assertTrue(answer.body().contains("maxInMemoryBytes"), answer.body());
        TestForm largest = new TestForm().field("f3", "x".repeat(15_000)).field("f4", "y".repeat(5_000));
        assertEquals(200, app.post("/", largest).status());
    }

    @Test
    void parameters_areChargedTwoBytesPerCharacter() throws Exception {
        app.on((request, response) -> {
            request.getParts();
            long before = app.memory.used();
            request.getParameter("a");
            response.getWriter().print(app.memory.used() - before);
        });
        app.start();
        assertEquals(
                "20000",
                app.post("/", new TestForm().field("a", "x".repeat(10_000))).body());
    }

    @Test
    void memoryFull_isAnsweredWith503() throws Exception {
        app.on((request, response) -> request.getParts());
        app.start(SluiceFilter.of(
                FormOptions.builder(app.spool, MemoryBudget.of(30_000)).build()));
        RawHttp.Response answer = app.post("/", FORM);
        assertEquals(503, answer.status(), answer.body());
    }

    @Test
    void rejectionOfApplication_keepsStatus() throws Exception {
        app.options(builder -> builder.decider(part -> PartDecision.reject(422, "not on Sundays")));
        assertRejected(422, "not on Sundays", FORM);
    }

    @Test
    void decider_throwsIoException_isAnsweredWith500WithoutMessage() throws Exception {
        app.options(builder -> builder.decider(part -> {
            throw new IOException("/secret/path");
        }));
        app.errorPage((request, response) ->
                response.getWriter().print(request.getAttribute("jakarta.servlet.error.message")));
        RawHttp.Response answer = ask(FORM, (request, response) -> request.getParts());
        assertEquals("500 the form could not be stored", answer.status() + " " + answer.body());
        assertEquals("the form could not be stored", app.thrown().peek().getMessage());
    }

    @Test
    void errorPage_ofRejectedForm_mayOpenTheBody() throws Exception {
        app.errorPage((request, response) -> {
            request.getInputStream();
            response.getWriter().print("the page");
        });
        RawHttp.Response answer = ask(TestForm.malformed(), (request, response) -> request.getParts());
        assertEquals("400 the page", answer.status() + " " + answer.body());
    }

    @Test
    void wrappedRejection_isAnswered() throws Exception {
        RawHttp.Response answer = ask(TestForm.malformed(), (request, response) -> {
            try {
                request.getParts();
            } catch (RuntimeException e) {
                throw new ServletException(new IllegalArgumentException(e));
            }
        });
        assertEquals(400, answer.status());
    }

    @Test
    void caughtRejection_isThrownAgain() throws Exception {
        RawHttp.Response answer = ask(TestForm.malformed(), (request, response) -> {
            MultipartRequestException first = assertThrows(MultipartRequestException.class, request::getParts);
            assertSame(first, assertThrows(MultipartRequestException.class, () -> request.getParameter("a")));
            assertInstanceOf(MultipartException.class, first.getCause());
            response.setStatus(299);
        });
        assertEquals(299, answer.status());
    }

    @Test
    void caughtRejectionOfForm_isThrownAgainAndAnswered() throws Exception {
        RawHttp.Response answer = ask(TestForm.malformed(), (request, response) -> {
            MultipartException first = assertThrows(MultipartException.class, () -> MultipartRequests.form(request));
            assertSame(first, assertThrows(MultipartException.class, () -> MultipartRequests.form(request)));
            throw first;
        });
        assertEquals(400, answer.status());
        assertInstanceOf(MultipartException.class, app.thrown().peek());
    }

    @Test
    void committedResponse_rejectionLeavesFilter() throws Exception {
        app.on((request, response) -> {
            response.getWriter().print("begun");
            response.flushBuffer();
            request.getParts();
        });
        app.start();
        assertThrows(IOException.class, () -> app.post("/", TestForm.malformed()), "the response was not cut off");
    }

    @Test
    void disconnectedClient_isIoExceptionAndLeavesNothing() throws Exception {
        app.on((request, response) -> request.getParameter("a")).start();
        app.begin(FORM, 1).reset();
        Eventually.isTrue(() -> !app.thrown().isEmpty(), "the filter did not detect the disconnected client");
        MultipartRequestException thrown =
                assertInstanceOf(MultipartRequestException.class, app.thrown().peek());
        assertTrue(thrown.isClientGone());
        assertFalse(thrown.isServerFailure(), "a disconnected client is reported as an error of the server");
        assertInstanceOf(IOException.class, thrown.getCause());
    }

    @Test
    void slowClient_isAnsweredWith408() throws Exception {
        app.options(options -> options.minBytesPerSecond(1_000_000).minRateGrace(Duration.ofSeconds(1)));
        app.on((request, response) -> request.getParts()).start();
        byte[] request = FORM.post("/");
        try (RawHttp client = app.begin(FORM, 1)) {
            Eventually.after(1500); // the bytes sent so far allow only about 100 ms after the grace period
            client.send(request, request.length - 5000, request.length - 4999);
            RawHttp.Response answer = client.response();
            assertEquals(408, answer.status());
            assertEquals("close", answer.headers().get("connection"));
            assertTrue(answer.body().contains("minBytesPerSecond"), answer.body());
        }
    }
}

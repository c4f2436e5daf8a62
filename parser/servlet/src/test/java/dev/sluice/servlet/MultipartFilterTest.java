package dev.sluice.servlet;

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
import dev.sluice.Preset;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartDecision;
import dev.sluice.form.SpoolDirectory;
import jakarta.servlet.ServletException;
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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MultipartFilterTest {
    @TempDir
    private Path directory;

    private JettyApp app;

    @BeforeEach
    void open() throws IOException {
        app = new JettyApp(directory);
    }

    @AfterEach
    void close() throws Exception {
        app.close();
    }

    private static FormBody form() {
        return new FormBody()
                .field("a", "1")
                .file("f", "C:\\é.txt", FormBody.bytes(100_000))
                .field("a", "2");
    }

    /** Serves and answers what {@code service} says, or what it threw. */
    private RawClient.Answer ask(FormBody body, JettyApp.Service service) throws Exception {
        return ask("/", body, service);
    }

    private RawClient.Answer ask(String target, FormBody body, JettyApp.Service service) throws Exception {
        app.on("/*", service).start();
        return app.post(target, body);
    }

    @Test
    void whatIsNoFormPassesAsTheSameObject() throws Exception {
        List<HttpServletRequest> seen = new ArrayList<>();
        app.on("/*", (request, response) -> {
            seen.add(request);
            response.getWriter().print(request instanceof HttpServletRequestWrapper);
        });
        app.start();
        String[][] others = {
            {"GET", FormBody.TYPE},
            {"DELETE", FormBody.TYPE},
            {"post", FormBody.TYPE},
            {"POST", "multipart/form-data2; boundary=B"},
            {"POST", "multipart/mixed; boundary=B"},
            {"POST", "multipart/*; boundary=B"},
            {"POST", "application/x-www-form-urlencoded"},
        };
        for (String[] other : others) {
            try (RawClient client = app.connect()) {
                client.send(FormBody.request(other[0], "/", other[1], form().closed()));
                assertEquals("false", client.answer().body(), String.join(" ", other));
            }
        }
        for (String method : List.of("POST", "PUT", "PATCH")) {
            try (RawClient client = app.connect()) {
                client.send(FormBody.request(method, "/", "Multipart/FORM-data ;boundary=B", form().closed()));
                assertEquals("true", client.answer().body(), method);
            }
        }
        assertEquals(10, seen.size());
    }

    @Test
    void eagerlyTheTroubleComesBeforeTheServlet() throws Exception {
        app.filter(builder -> builder.eager());
        RawClient.Answer answer = ask(new FormBody().text("--Bgarbage"), (request, response) -> {
            throw new AssertionError("not reached");
        });
        assertEquals(400, answer.status());
        assertTrue(app.thrown.isEmpty());
    }

    @Test
    void eagerlyTheFormIsThereBeforeTheServlet() throws Exception {
        app.filter(builder -> builder.eager());
        RawClient.Answer answer = ask(
                form(),
                (request, response) -> response.getWriter().print(app.spool.files() + request.getParameter("a")));
        assertEquals("11", answer.body());
    }

    // ---- writing

    @Test
    void aRelativeNameThatLeavesTheLocationIsRefused() throws Exception {
        RawClient.Answer answer = ask(form(), (request, response) -> {
            for (String name : List.of("../x", "a/../../x", "", ".", "..")) {
                assertThrows(IOException.class, () -> request.getPart("f").write(name), name);
            }
            assertThrows(IOException.class, () -> request.getPart("f").write("a\0b"));
            response.getWriter().print("ok");
        });
        assertEquals("ok", answer.body());
    }

    @Test
    void withoutASpoolRelativeNamesGoToTheTemporaryDirectoryOfTheContext() throws Exception {
        app.on("/*", (request, response) -> {
            request.getPart("a").write("small.txt");
            response.getWriter().print("ok");
        });
        app.start(MultipartFilter.of(FormOptions.inMemory(app.memory).build()));
        assertEquals("ok", app.post("/", new FormBody().field("a", "v")).body());
        Path temporary = app.context().getTempDirectory().toPath();
        assertEquals("v", Files.readString(temporary.resolve("small.txt")));
    }

    // ---- who has the body

    @Test
    void aFieldStaysAParameterWhenItsPartIsDeletedOrWritten() throws Exception {
        app.on("/*", (request, response) -> {
            request.getPart("a").delete();
            request.getPart("b").write("b.txt");
            response.getWriter().print(request.getParameter("a") + request.getParameter("b"));
        });
        app.start();
        FormBody body = new FormBody().field("a", "1").field("b", "2").file("f", "f.txt", FormBody.bytes(10));
        assertEquals("12", app.post("/", body).body());
    }

    @Test
    void afterTheApplicationHasTakenTheStreamThereAreNoPartsAndOnlyTheParametersOfTheQuery() throws Exception {
        RawClient.Answer answer = ask("/?q=1", form(), (request, response) -> {
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
    void theBodyCanBeReadPartByPartInstead() throws Exception {
        RawClient.Answer answer = ask("/?q=1", form(), (request, response) -> {
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
    void theReaderWorksWithoutTheFilterAndKeepsToItsDefaults() throws Exception {
        app.on("/*", (request, response) -> {
            assertThrows(IllegalStateException.class, () -> MultipartRequests.form(request));
            assertThrows(IllegalStateException.class, () -> MultipartRequests.hold(request));
            try (MultipartReader reader = MultipartRequests.reader(request)) {
                response.getWriter().print(reader.nextPart().text());
            }
        });
        app.startBare();
        assertEquals("1", app.post("/", form()).body());
    }

    @Test
    void theFormItselfIsThereWithOptionsOfItsOwn() throws Exception {
        RawClient.Answer answer = ask(form(), (request, response) -> {
            MultipartForm form = MultipartRequests.form(
                    request,
                    options -> options.decider(part ->
                            part.filename() == null ? PartDecision.memory() : PartDecision.refuse(422, "no files")));
            assertSame(form, MultipartRequests.form(request));
            assertThrows(IllegalStateException.class, () -> MultipartRequests.form(request, options -> options));
            response.getWriter()
                    .print(form.refused().get(0).httpStatus() + " "
                            + request.getParts().size());
        });
        assertEquals("422 2", answer.body());
    }

    @Test
    void aDeciderThatAsksForTheFormIsTold() throws Exception {
        RawClient.Answer answer = ask(
                form(),
                (request, response) -> MultipartRequests.form(
                        request,
                        options -> options.decider(part -> {
                            request.getParameter("a");
                            return PartDecision.skip();
                        })));
        assertEquals(500, answer.status());
        assertTrue(app.thrown.peek().getMessage().contains("parsed by the caller itself"));
    }

    @Test
    void whatTheDeciderThrowsPassesAsItIs() throws Exception {
        RawClient.Answer answer = ask(
                form(),
                (request, response) -> MultipartRequests.form(
                        request,
                        options -> options.decider(part -> {
                            throw new ArithmeticException("mine");
                        })));
        assertEquals(500, answer.status());
        assertInstanceOf(ArithmeticException.class, app.thrown.peek());
    }

    // ---- trouble

    private void assertRefused(int status, String word, FormBody body) throws Exception {
        RawClient.Answer answer = ask(body, (request, response) -> request.getParts());
        assertEquals(status, answer.status(), answer.body());
        assertTrue(answer.body().contains(word), answer.body());
        MultipartRequestException known = assertInstanceOf(MultipartRequestException.class, app.thrown.peek());
        assertEquals(status, known.httpStatus());
        assertNotNull(known.getCause());
    }

    @Test
    void anUnsupportedNestedTypeIs415() throws Exception {
        app.options(builder -> builder.preset(Preset.STRICT));
        assertRefused(
                415,
                "multipart",
                new FormBody()
                        .part(
                                "Content-Disposition: form-data; name=\"n\"\r\nContent-Type: multipart/mixed; boundary=C",
                                "--C--".getBytes(StandardCharsets.US_ASCII)));
    }

    @Test
    void aBodyThatSaysThatItIsTooLargeIs413AndSoIsOneThatDoesNot() throws Exception {
        app.options(builder -> builder.maxBodyBytes(1000));
        assertRefused(413, "maxBodyBytes", form());
        try (RawClient client = app.connect()) {
            byte[] body = form().closed();
            client.send(FormBody.head("POST", "/", FormBody.TYPE, -1));
            client.send(Integer.toHexString(body.length) + "\r\n").send(body).send("\r\n0\r\n\r\n");
            RawClient.Answer answer = client.answer();
            assertEquals(413, answer.status());
            assertTrue(answer.body().contains("maxBodyBytes"), answer.body());
            assertNull(answer.headers().get("connection"), "the little that was left has been read");
        }
        assertTrue(app.thrown.stream()
                .allMatch(e -> e.getMessage().contains("size") && e.getMessage().contains("exceeds")));
    }

    @Test
    void aLargeRestIsNotReadAndTheConnectionIsClosed() throws Exception {
        app.options(builder -> builder.maxBodyBytes(1000).maxDrainBytes(5000));
        app.on("/*", (request, response) -> request.getParts()).start();
        try (RawClient client = app.connect()) {
            client.send(FormBody.head("POST", "/", FormBody.TYPE, 1 << 30)).send(form().open());
            RawClient.Answer answer = client.answer();
            assertEquals(413, answer.status());
            assertEquals("close", answer.headers().get("connection"));
            assertTrue(client.isClosedByServer());
        }
    }

    @Test
    void aClientThatWaitsForLeaveToSendIsRefusedBeforeItSends() throws Exception {
        app.options(builder -> builder.maxBodyBytes(1000));
        app.on("/*", (request, response) -> request.getParts()).start();
        try (RawClient client = app.connect()) {
            client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Type: " + FormBody.TYPE
                    + "\r\nContent-Length: 2000\r\nExpect: 100-continue\r\n\r\n");
            assertEquals(413, client.answer().status());
        }
    }

    @Test
    void aFieldTooLargeIs413ForParametersAndAPartAllTheSame() throws Exception {
        app.options(builder -> builder.maxFieldBytes(3));
        app.on("/*", (request, response) -> {
            assertEquals(2, request.getParts().size());
            request.getParameter("x");
        });
        app.start();
        RawClient.Answer answer = app.post("/", new FormBody().field("x", "123").field("y", "1234"));
        assertEquals(413, answer.status());
        assertTrue(answer.body().contains("maxFieldBytes"), answer.body());
    }

    @Test
    void aFieldTooLargeIs413ForParametersEvenWhenAnotherIsGone() throws Exception {
        app.options(builder -> builder.maxFieldBytes(3));
        app.on("/*", (request, response) -> {
            request.getPart("x").delete();
            request.getParameter("x");
        });
        app.start();
        RawClient.Answer answer = app.post("/", new FormBody().field("x", "123").field("y", "1234"));
        assertEquals(413, answer.status(), answer.body());
        assertTrue(answer.body().contains("maxFieldBytes"), answer.body());
    }

    @Test
    void manyFieldsTogetherAreNotMoreInMemoryThanTheFormMayBe() throws Exception {
        app.options(builder -> builder.maxInMemoryBytes(20_000).spillThreshold(100));
        FormBody body = new FormBody();
        for (int i = 0; i < 5; i++) {
            body.field("f" + i, "x".repeat(5_000));
        }
        app.on("/*", (request, response) -> request.getParameter("x")).start();
        RawClient.Answer answer = app.post("/", body);
        assertEquals(413, answer.status());
        assertTrue(answer.body().contains("maxInMemoryBytes"), answer.body());
    }

    @Test
    void withoutMemoryItIs503() throws Exception {
        app.on("/*", (request, response) -> request.getParts());
        app.start(MultipartFilter.of(
                FormOptions.builder(app.spool, MemoryBudget.of(30_000)).build()));
        RawClient.Answer answer = app.post("/", form());
        assertEquals(503, answer.status(), answer.body());
    }

    @Test
    void beyondTheQuotaOfTheSpoolItIs507() throws Exception {
        try (SpoolDirectory small = SpoolDirectory.builder(directory)
                .maxSpoolBytes(1000)
                .keepFreeBytes(0)
                .open()) {
            app.on("/*", (request, response) -> request.getParts());
            app.start(MultipartFilter.of(FormOptions.builder(small, app.memory).build()));
            assertEquals(507, app.post("/", form()).status());
            assertEquals(0, small.files());
        }
    }

    @Test
    void whatTheApplicationRefusesHasItsStatus() throws Exception {
        app.options(builder -> builder.decider(part -> PartDecision.refuseForm(422, "not on Sundays")));
        assertRefused(422, "not on Sundays", form());
    }

    @Test
    void troubleOfASinkIs500AndItsMessageIsNotForTheClient() throws Exception {
        app.options(builder -> builder.decider(part -> {
            throw new IOException("/secret/path");
        }));
        RawClient.Answer answer = ask(form(), (request, response) -> request.getParts());
        assertEquals(500, answer.status());
        assertFalse(answer.body().contains("/secret/path") && !answer.body().contains("Caused by"), answer.body());
        assertEquals("the form could not be stored", app.thrown.peek().getMessage());
    }

    @Test
    void troubleIsAnsweredThroughOtherExceptionsToo() throws Exception {
        RawClient.Answer answer = ask(new FormBody().text("--Bgarbage"), (request, response) -> {
            try {
                request.getParts();
            } catch (RuntimeException e) {
                throw new ServletException(new IllegalArgumentException(e));
            }
        });
        assertEquals(400, answer.status());
    }

    @Test
    void anApplicationThatCatchesItDecidesItselfAndHearsTheSameAgain() throws Exception {
        RawClient.Answer answer = ask(new FormBody().text("--Bgarbage"), (request, response) -> {
            MultipartRequestException first = assertThrows(MultipartRequestException.class, request::getParts);
            assertSame(first, assertThrows(MultipartRequestException.class, () -> request.getParameter("a")));
            assertInstanceOf(MultipartException.class, first.getCause());
            response.setStatus(299);
        });
        assertEquals(299, answer.status());
    }

    @Test
    void afterTheResponseWasCommittedTheTroubleLeavesTheFilter() throws Exception {
        app.on("/*", (request, response) -> {
            response.getWriter().print("begun");
            response.flushBuffer();
            request.getParts();
        });
        app.start();
        try (RawClient client = app.connect()) {
            client.send(new FormBody().text("--Bgarbage").post("/"));
            assertThrows(IOException.class, client::answer, "the container cuts it off");
        }
    }

    @Test
    void aClientThatVanishesIsAnIoExceptionAndLeavesNothing() throws Exception {
        app.on("/*", (request, response) -> request.getParameter("a")).start();
        try (RawClient client = app.connect()) {
            client.send(FormBody.head("POST", "/", FormBody.TYPE, 1 << 20)).send(form().open());
            JettyApp.eventually("the file is begun", () -> app.spool.files() == 1);
            client.vanish();
        }
        JettyApp.eventually("it is noticed", () -> !app.thrown.isEmpty());
        MultipartRequestException thrown = assertInstanceOf(MultipartRequestException.class, app.thrown.peek());
        assertTrue(thrown.isClientGone());
        assertInstanceOf(IOException.class, thrown.getCause());
    }

    @Test
    void aClientThatIsTooSlowIs408() throws Exception {
        app.options(options -> options.minBytesPerSecond(1_000_000).minRateGrace(Duration.ofMillis(50)));
        app.on("/*", (request, response) -> request.getParts()).start();
        try (RawClient client = app.connect()) {
            client.send(FormBody.head("POST", "/", FormBody.TYPE, 1 << 20));
            FormBody body = form();
            client.send(body.open());
            JettyApp.eventually("the body is being read", () -> app.spool.files() == 1);
            long start = System.nanoTime();
            JettyApp.eventually("time goes by", () -> System.nanoTime() - start > 1_500_000_000L);
            client.send("x");
            RawClient.Answer answer = client.answer();
            assertEquals(408, answer.status());
            assertEquals("close", answer.headers().get("connection"));
            assertTrue(answer.body().contains("minBytesPerSecond"), answer.body());
        }
    }
}

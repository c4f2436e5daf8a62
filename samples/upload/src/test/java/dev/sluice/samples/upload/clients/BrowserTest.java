package dev.sluice.samples.upload.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.sun.net.httpserver.HttpServer;
import dev.sluice.samples.upload.ServerConfig;
import dev.sluice.samples.upload.UploadServer;
import dev.sluice.testkit.Eventually;
import dev.sluice.testkit.TestForm;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.By;
import org.openqa.selenium.Dimension;
import org.openqa.selenium.WebElement;

/** The upload page in a real browser. */
final class BrowserTest {
    private static final int RATE = 4 << 20;

    /** Records each value of the total progress bar, and each state of the page. */
    private static final String WATCH = """
            window.seen = {shares: [], states: []};
            new MutationObserver(changes => changes.forEach(change => {
              if (change.target.matches('#total .bar')) seen.shares.push(change.target.value);
              if (change.target.id === 'status') seen.states.push(change.target.dataset.state);
            })).observe(document.body, {attributes: true, subtree: true, attributeFilter: ['value', 'data-state']});
            """;

    /** Creates files in the page, with names that the local file system may not support, and drops them. */
    private static final String DROP_FROM_SCRIPT = """
            const data = new DataTransfer();
            for (const [name, type, text] of arguments[0]) data.items.add(new File([text], name, {type}));
            document.querySelector('#drop').dispatchEvent(
              new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true}));
            """;

    /** Reads the cells of the table, without the notes in small print. */
    private static final String TABLE = """
            return [...document.querySelectorAll('#parts tbody tr')].map(row =>
              ['.c-name', '.c-filename', '.c-type', '.c-size', '.c-sha256'].map(cell =>
                row.querySelector(cell + ' span').firstChild.textContent));
            """;

    @TempDir
    Path directory;

    private interface Visit {
        void with(Browser browser, UploadServer server) throws Exception;
    }

    @TestFactory
    Stream<DynamicNode> page_inABrowser_showsTheResults() {
        return Browser.tests(browser -> Stream.of(
                visit(browser, "droppedFilesAndField_arriveWithProgress", 1 << 30, this::drop),
                visit(browser, "unicodeNamesAndEmptyFile_arrive", 1 << 30, this::names),
                visit(browser, "emptyField_isNotSent_andNamelessFieldIsListed", 1 << 30, this::fields),
                visit(browser, "cancelledUpload_leavesNothing", 1 << 30, this::cancel),
                visit(browser, "rejection_isShownInPlainWords", 100_000, this::rejection),
                visit(browser, "changedFileAndFolder_areNamedAsCause", 1 << 30, this::changed),
                visit(browser, "missingAnswer_pageDoesNotClaimResult", 1 << 30, this::unanswered),
                visit(browser, "filesOverLimit_areNotSent", 100_000, this::limits)));
    }

    private DynamicTest visit(Browser browser, String name, long maxBodyBytes, Visit visit) {
        return dynamicTest("browser: " + name, () -> {
            ServerConfig config =
                    ServerConfig.of(directory.resolve(name.replace(' ', '-'))).withMaxBodyBytes(maxBodyBytes);
            try (UploadServer server = UploadServer.start(config)) {
                browser.limitUploadRate(-1);
                browser.driver().get(server.uri().toString());
                browser.run(WATCH);
                visit.with(browser, server);
            }
        });
    }

    private void drop(Browser browser, UploadServer server) throws Exception {
        byte[] large = FormPart.bytes(6 << 20);
        byte[] small = "a \"small\" one\r\n".getBytes(StandardCharsets.US_ASCII);
        try (Scratch scratch = Scratch.create()) {
            Path first = Files.write(scratch.directory().resolve("holiday; day 1.bin"), large);
            Path second = Files.write(scratch.directory().resolve("note.txt"), small);
            browser.drop(browser.find("#drop"), List.of(first, second));
            browser.await(driver ->
                    driver.findElements(By.cssSelector("#queue .file")).size() == 2);
            type(browser, 0, "comment", "two files");

            browser.limitUploadRate(RATE / 4);
            browser.find("#upload").click();
            browser.await(driver -> share(browser) > 0.3);
            String rate = browser.find("#total .rate").getText();
            browser.screenshot("upload-progress");
            assertTrue(rate.matches(".* of .*MiB at .*MiB/s, \\d+\\h+s left"), rate);
            browser.awaitState("done");
        }
        assertEquals(
                List.of(
                        Browser.row("comment", "\u2013", "\u2013", "two files".getBytes(StandardCharsets.US_ASCII)),
                        Browser.row("files", "holiday; day 1.bin", "application/octet-stream", large),
                        Browser.row("files", "note.txt", "text/plain", small)),
                browser.runForList(TABLE));
        List<?> shares = browser.runForList("return seen.shares");
        long between = shares.stream()
                .map(share -> ((Number) share).doubleValue())
                .filter(share -> share > 0 && share < 1)
                .distinct()
                .count();
        assertTrue(between >= 3, () -> "progress seen: " + shares);
        assertTrue(browser.runForList("return seen.states").contains("sending"));
        assertEquals(
                TestForm.sha256(large),
                TestForm.sha256(Files.readAllBytes(server.directory().resolve("holiday_ day 1.bin"))));
        assertEquals(
                TestForm.sha256(small),
                TestForm.sha256(Files.readAllBytes(server.directory().resolve("note.txt"))));
        assertEquals(Set.of("holiday_ day 1.bin", "note.txt"), Received.names(server.directory()));
        browser.run("document.querySelector('#result').scrollIntoView()");
        browser.screenshot("upload-result");
        browser.driver().manage().window().setSize(new Dimension(500, 900));
        browser.screenshot("upload-result-narrow");
        browser.driver().manage().window().setSize(new Dimension(1100, 1000));
        assertEquals("Done: 2 files", browser.find("#status").getText().replaceAll(" in .*", ""));
    }

    private void names(Browser browser, UploadServer server) {
        String unicode = "gr\u00f6\u00dfe \u2603 \u65e5\u672c\u8a9e \ud83d\ude80.txt";
        browser.run(
                DROP_FROM_SCRIPT,
                List.of(
                        List.of(unicode, "text/plain", "unicode \u2603"),
                        List.of("quo\"te.txt", "text/plain", "quote"),
                        List.of("empty.bin", "", "")));
        type(browser, 0, "\u540d\u524d", "\u5024 \ud83d\ude80");
        browser.find("#upload").click();
        browser.awaitState("done");
        assertEquals(
                List.of(
                        Browser.row(
                                "\u540d\u524d",
                                "\u2013",
                                "\u2013",
                                "\u5024 \ud83d\ude80".getBytes(StandardCharsets.UTF_8)),
                        Browser.row("files", unicode, "text/plain", "unicode \u2603".getBytes(StandardCharsets.UTF_8)),
                        Browser.row("files", "quo%22te.txt", "text/plain", "quote".getBytes(StandardCharsets.US_ASCII)),
                        Browser.row("files", "empty.bin", "application/octet-stream", new byte[0])),
                browser.runForList(TABLE));
    }

    private void fields(Browser browser, UploadServer server) throws Exception {
        browser.find("#upload").click();
        assertEquals(
                "Choose a file or fill in a field first",
                browser.find("#status").getText());
        browser.find("#add-field").click();
        browser.find("#add-field").click();
        type(browser, 1, "", "nameless");
        type(browser, 2, "title", "Sea");
        String name = "a-name-that-says-where-and-when-".repeat(4) + ".txt";
        browser.run(
                DROP_FROM_SCRIPT,
                List.of(List.of("holiday-in-norway.jpg", "image/jpeg", "1"), List.of(name, "text/plain", "2")));
        browser.find("#upload").click();
        browser.awaitState("done");
        assertEquals(
                List.of("(no name)", "title", "files", "files"),
                browser.runForList(TABLE).stream()
                        .map(row -> ((List<?>) row).get(0))
                        .toList());
        assertEquals(
                List.of(true, true),
                browser.runForList("""
                        const heights = [...document.querySelectorAll('td.c-filename > span')].map(name => name.getClientRects().length);
                        return [heights[2] === 1, document.body.scrollWidth <= innerWidth];
                        """),
                "a usual name is not on one line, or a long one widens the page");
        browser.run("document.querySelector('#result').scrollIntoView()");
        browser.screenshot("upload-long-name");
    }

    private void cancel(Browser browser, UploadServer server) throws Exception {
        try (Scratch scratch = Scratch.create()) {
            Path file = Files.write(scratch.directory().resolve("large.bin"), FormPart.bytes(32 << 20));
            browser.drop(browser.find("#drop"), List.of(file));
            browser.limitUploadRate(RATE);
            browser.find("#upload").click();
            Eventually.passes(
                    () -> assertFalse(Received.names(server.directory()).isEmpty(), "no file in the spool"));
            browser.find("#cancel").click();
            browser.awaitState("cancelled");
            assertEquals("not kept", browser.find("#total .pct").getText());
            Eventually.passes(() -> assertEquals(Set.of(), Received.names(server.directory())));
        }
    }

    private void changed(Browser browser, UploadServer server) throws Exception {
        try (Scratch scratch = Scratch.create()) {
            Path file = Files.writeString(scratch.directory().resolve("a.txt"), "as chosen");
            browser.drop(browser.find("#drop"), List.of(file, Files.createDirectory(file.resolveSibling("folder"))));
            browser.await(driver -> browser.find("#error").getText().startsWith("A folder cannot be sent"));
            assertEquals("1 file, 9 B", browser.find("#status").getText().replace('\u00a0', ' '));
            Files.writeString(file, "changed, and longer");
            Files.setLastModifiedTime(
                    file,
                    FileTime.from(Instant.now().plusSeconds(10))); // browsers compare modification times in seconds
            browser.find("#upload").click();
            browser.awaitState("broken");
            assertTrue(
                    browser.find("#error").getText().contains("A file was changed, moved or deleted"),
                    browser.find("#error").getText());
            assertEquals("not kept", browser.find("#total .pct").getText());
        }
        assertEquals(Set.of(), Received.names(server.directory()));
    }

    /**
     * Serves the page and receives a form, but answers with an error page of a proxy, with an empty response, or not at
     * all.
     */
    private void unanswered(Browser browser, UploadServer server) throws Exception {
        byte[] page = server.uri().toURL().openStream().readAllBytes();
        AtomicInteger forms = new AtomicInteger();
        CountDownLatch over = new CountDownLatch(1);
        HttpServer mute = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        ExecutorService threads = Executors.newCachedThreadPool();
        mute.setExecutor(threads);
        mute.createContext("/", exchange -> {
            exchange.getRequestBody().readAllBytes();
            boolean get = exchange.getRequestMethod().equals("GET");
            if (get || forms.incrementAndGet() == 1) {
                exchange.sendResponseHeaders(get ? 200 : 502, page.length);
                exchange.getResponseBody().write(page);
            } else {
                await(over);
            }
            exchange.close();
        });
        mute.start();
        try {
            browser.driver().get("http://127.0.0.1:" + mute.getAddress().getPort() + "/");
            browser.run(DROP_FROM_SCRIPT, List.of(List.of("a.txt", "text/plain", "x".repeat(10_000))));
            browser.find("#upload").click();
            browser.awaitState("broken");
            assertNotKnown(browser, "The response did not come from an upload server");

            for (String state : List.of("cancelled", "broken")) {
                browser.find("#upload").click();
                browser.await(driver -> "waiting".equals(browser.find("#status").getAttribute("data-state")));
                if (state.equals("cancelled")) {
                    browser.find("#cancel").click();
                } else {
                    over.countDown();
                }
                browser.awaitState(state);
                assertNotKnown(
                        browser,
                        state.equals("cancelled")
                                ? "Stopped waiting for the response"
                                : "The connection broke before the response came");
            }
        } finally {
            over.countDown();
            mute.stop(0);
            threads.shutdownNow();
        }
    }

    private static void await(CountDownLatch latch) throws IOException {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    private static void assertNotKnown(Browser browser, String title) {
        assertEquals(title, browser.find("#status").getText());
        assertEquals(
                List.of(title, "The server may or may not have kept this upload. Check before you send it again."),
                browser.find("#error").getText().lines().limit(2).toList());
        assertEquals("not known", browser.find("#total .pct").getText());
        assertEquals("not known", browser.find(".file .pct").getText());
    }

    private void rejection(Browser browser, UploadServer server) throws Exception {
        browser.run(DROP_FROM_SCRIPT, List.of(List.of("just-too-large.bin", "", "x".repeat(99_990))));
        browser.find("#upload").click();
        browser.awaitState("refused");
        WebElement error = browser.find("#error");
        assertEquals("BODY_TOO_LARGE", error.getAttribute("data-reason"));
        assertEquals(
                List.of("This is too large for one upload", "Choose a smaller file, or shorten the text."),
                error.getText().lines().limit(2).toList());
        browser.find("#error summary").click();
        assertTrue(error.getText().contains("exceeds the limit of 100000 bytes (maxBodyBytes"), error.getText());
        assertEquals("Rejected; nothing was kept", browser.find("#status").getText());
        assertEquals("not kept", browser.find("#total .pct").getText());
        assertEquals("not kept", browser.find(".file .pct").getText());
        assertEquals(Set.of(), Received.names(server.directory()));
        browser.screenshot("upload-rejected");
    }

    private void limits(Browser browser, UploadServer server) throws Exception {
        assertEquals(
                "Up to 100 files at once, 97.7 KiB together.",
                browser.find("#limits").getText());
        browser.run(
                DROP_FROM_SCRIPT, List.of(List.of("a", "", "x".repeat(60_000)), List.of("b", "", "x".repeat(60_000))));
        assertEquals(
                "2 files, 117 KiB: too large; the limit is 97.7 KiB",
                browser.find("#status").getText());
        assertFalse(browser.find("#upload").isEnabled());
        browser.screenshot("upload-over");
        browser.find(".file .remove").click();
        browser.find("#upload").click();
        browser.awaitState("done");
        assertEquals(Set.of("b"), Received.names(server.directory()));

        browser.run(DROP_FROM_SCRIPT, files(101));
        assertEquals(
                "101 files, 0 B: 1 too many; the limit is 100",
                browser.find("#status").getText());
        assertFalse(browser.find("#upload").isEnabled());
    }

    private static List<List<String>> files(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> List.of(String.valueOf(i), "", ""))
                .toList();
    }

    private static void type(Browser browser, int field, String name, String value) {
        // Set by script, because the driver's keyboard supports only the basic multilingual plane.
        browser.run(
                "const row = document.querySelectorAll('.field')[arguments[0]];"
                        + "row.querySelector('.field-name').value = arguments[1];"
                        + "row.querySelector('.field-value').value = arguments[2];",
                field,
                name,
                value);
    }

    private static double share(Browser browser) {
        return browser.runForNumber("return document.querySelector('#total .bar').value");
    }
}

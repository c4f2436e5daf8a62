package dev.sluice.samples.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.sluice.samples.upload.clients.Browser;
import dev.sluice.samples.upload.clients.FormPart;
import dev.sluice.samples.upload.clients.Scratch;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.By;
import org.openqa.selenium.Dimension;
import org.openqa.selenium.WebElement;

/** The page in a real browser. */
final class BrowserTest {
    private static final String TABLE = """
            return [...document.querySelectorAll('#' + arguments[0] + '-answer tbody tr')].map(row =>
              ['.c-name', '.c-filename', '.c-type', '.c-size', '.c-sha256'].map(cell =>
                row.querySelector(cell).textContent));
            """;

    @TempDir
    Path directory;

    private interface Visit {
        void with(Browser browser) throws Exception;
    }

    @TestFactory
    Stream<DynamicNode> page_inABrowser_showsTheResults() {
        return Browser.tests(browser -> Stream.of(
                visit(browser, "droppedFilesAndField_arriveAtBothEndpoints", 64 << 20, this::drop),
                visit(browser, "pickedFile_arrivesWithItsName", 64 << 20, this::pick),
                visit(browser, "rejection_isShownForBothEndpoints", 100_000, this::rejection)));
    }

    private DynamicTest visit(Browser browser, String name, long maxBodyBytes, Visit visit) {
        return dynamicTest("browser: " + name, () -> {
            SampleConfig config =
                    SampleConfig.of(directory.resolve("spool")).with(options -> options.maxBodyBytes(maxBodyBytes));
            try (ServletServer server = ServletServer.start(config)) {
                browser.driver().get(server.uri().toString());
                visit.with(browser);
            }
        });
    }

    private void drop(Browser browser) throws Exception {
        byte[] large = FormPart.bytes(3 << 20);
        byte[] small = "a \"small\" one\r\n".getBytes(StandardCharsets.US_ASCII);
        try (Scratch scratch = Scratch.create()) {
            Path first = Files.write(scratch.directory().resolve("holiday; day 1.bin"), large);
            Path second = Files.write(scratch.directory().resolve("note.txt"), small);
            browser.drop(browser.find("#drop"), List.of(first, second));
            browser.await(driver ->
                    driver.findElements(By.cssSelector("#queue .file")).size() == 2);
            browser.find(".field-value").sendKeys("two files");
            send(browser, "done");
        }
        for (String endpoint : List.of("parts", "async")) {
            assertEquals(
                    List.of(
                            Browser.row("comment", "\u2013", "\u2013", "two files".getBytes(StandardCharsets.US_ASCII)),
                            Browser.row("files", "holiday; day 1.bin", "application/octet-stream", large),
                            Browser.row("files", "note.txt", "text/plain", small)),
                    browser.runForList(TABLE, endpoint));
            assertEquals(
                    List.of("preset = \u201cstandard\u201d", "comment = \u201ctwo files\u201d"),
                    browser.runForList(
                            "return [...document.querySelectorAll('#' + arguments[0] + '-answer .parameters li')]"
                                    + ".map(row => row.textContent)",
                            endpoint));
        }
        assertEquals("send", browser.driver().switchTo().activeElement().getAttribute("id"), "the focused element");
        browser.screenshot("servlet-result");
        browser.driver().manage().window().setSize(new Dimension(500, 900));
        browser.screenshot("servlet-result-narrow");
        assertEquals(List.of("left"), browser.runForList("""
                        return [...new Set([...document.querySelectorAll('#parts-answer tr[data-part] td')]
                          .map(cell => getComputedStyle(cell).textAlign))];
                        """), "the values are not aligned");
    }

    private void pick(Browser browser) throws Exception {
        byte[] content = FormPart.bytes(1000);
        try (Scratch scratch = Scratch.create()) {
            Path file = Files.write(scratch.directory().resolve("picked.png"), content);
            browser.find("#files").sendKeys(file.toString());
            send(browser, "done");
        }
        for (String endpoint : List.of("parts", "async")) {
            List<?> rows = browser.runForList(TABLE, endpoint);
            assertEquals(Browser.row("files", "picked.png", "image/png", content), rows.get(rows.size() - 1));
        }
    }

    private void rejection(Browser browser) throws Exception {
        try (Scratch scratch = Scratch.create()) {
            Path file = Files.write(scratch.directory().resolve("large.bin"), FormPart.bytes(3 << 20));
            browser.drop(browser.find("#drop"), List.of(file));
            send(browser, "refused");
        }
        for (String endpoint : List.of("parts", "async")) {
            WebElement response = browser.find("#" + endpoint + "-answer");
            assertEquals("413", response.getAttribute("data-status"));
            WebElement error = response.findElement(By.cssSelector(".error"));
            assertEquals("BODY_TOO_LARGE", error.getAttribute("data-reason"));
            assertTrue(error.getText().contains("exceeds the limit of 100000 bytes (maxBodyBytes"), error::getText);
        }
        browser.screenshot("servlet-rejected");
        browser.run("addFiles(Array.from({length: 120}, (_, i) => new File([], 'file' + i)))");
        assertEquals(
                List.of(true),
                browser.runForList("return [document.querySelector('#queue').offsetHeight <= innerHeight / 2]"),
                "the button is not visible with many files");
    }

    private static void send(Browser browser, String state) {
        browser.find("#send").click();
        browser.awaitState(state);
    }
}

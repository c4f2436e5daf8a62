package dev.sluice.samples.upload.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.testkit.TestForm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.openqa.selenium.By;
import org.openqa.selenium.JavascriptExecutor;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.support.ui.ExpectedCondition;
import org.openqa.selenium.support.ui.WebDriverWait;

/** A headless Chromium with a temporary profile that is deleted when it is closed. */
public final class Browser implements AutoCloseable {
    private static final Optional<Program> CHROMIUM =
            Program.find("chromium", "chromium-browser", "google-chrome", "google-chrome-stable");
    private static final Optional<Program> DRIVER =
            Program.find("chromedriver", "/usr/lib/chromium/chromedriver", "/usr/lib/chromium-browser/chromedriver");

    private final Scratch profile;
    private final ChromeDriver driver;

    private Browser(Scratch profile, ChromeDriver driver) {
        this.profile = profile;
        this.driver = driver;
    }

    /** {@return tests that share one browser, which is closed after them; not opened if Chromium is not installed} */
    public static Stream<DynamicNode> tests(Function<Browser, Stream<DynamicTest>> tests) {
        return Presence.of("chromium with chromedriver", isPresent(), () -> {
            try {
                Browser browser = open();
                return tests.apply(browser).onClose(browser::closeUnchecked);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    private void closeUnchecked() {
        try {
            close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isPresent() {
        return CHROMIUM.isPresent() && DRIVER.isPresent();
    }

    private static Browser open() throws IOException {
        Scratch profile = Scratch.create();
        ChromeOptions options = new ChromeOptions();
        options.setAcceptInsecureCerts(true); // for self-signed certificates of the test servers
        options.setBinary(CHROMIUM.orElseThrow().file().toString());
        options.addArguments(
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--no-proxy-server",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--window-size=1100,1000",
                "--user-data-dir=" + profile.directory());
        ChromeDriverService service = new ChromeDriverService.Builder()
                .usingDriverExecutable(DRIVER.orElseThrow().file().toFile())
                .usingAnyFreePort()
                .withSilent(true)
                .build();
        try {
            return new Browser(profile, new ChromeDriver(service, options));
        } catch (RuntimeException e) {
            profile.close();
            throw e;
        }
    }

    public ChromeDriver driver() {
        return driver;
    }

    public @Nullable Object run(String script, Object... arguments) {
        return ((JavascriptExecutor) driver).executeScript(script, arguments);
    }

    public List<?> runForList(String script, Object... arguments) {
        return (List<?>) Objects.requireNonNull(run(script, arguments), script);
    }

    double runForNumber(String script) {
        return ((Number) Objects.requireNonNull(run(script), script)).doubleValue();
    }

    public WebElement find(String selector) {
        return driver.findElement(By.cssSelector(selector));
    }

    /** Waits until the page reports the end of an upload, and requires the given state. */
    public void awaitState(String state) {
        Set<String> ends = Set.of("done", "refused", "broken", "cancelled");
        await(page -> ends.contains(find("#status").getAttribute("data-state")));
        assertEquals(
                state,
                find("#status").getAttribute("data-state"),
                () -> find("main").getText());
    }

    /** {@return the table cells that the page should show for a part} */
    public static List<String> row(String name, String filename, String type, byte[] content) {
        return List.of(
                name, filename, type, String.format(Locale.ENGLISH, "%,d", content.length), TestForm.sha256(content));
    }

    public <T> T await(ExpectedCondition<T> condition) {
        return new WebDriverWait(driver, Duration.ofSeconds(60)).until(condition);
    }

    /** Drops files from the disk onto an element, as a user would. The page sees trusted events. */
    public void drop(WebElement target, List<Path> files) {
        List<?> at = runForList(
                "const r = arguments[0].getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2];",
                target);
        Map<String, Object> data = Map.of(
                "items", List.of(), "files", files.stream().map(Path::toString).toList(), "dragOperationsMask", 1);
        for (String type : List.of("dragEnter", "dragOver", "drop")) {
            driver.executeCdpCommand(
                    "Input.dispatchDragEvent", Map.of("type", type, "x", at.get(0), "y", at.get(1), "data", data));
        }
    }

    /** Limits the upload rate, so that progress can be observed; -1 removes the limit. */
    void limitUploadRate(int bytesPerSecond) {
        driver.executeCdpCommand("Network.enable", Map.of());
        driver.executeCdpCommand(
                "Network.emulateNetworkConditions",
                Map.of("offline", false, "latency", 0, "downloadThroughput", -1, "uploadThroughput", bytesPerSecond));
    }

    /** Saves a screenshot of the page with the build's artifacts. */
    public void screenshot(String name) throws IOException {
        Path file = Path.of("target", "screenshots", name + ".png");
        Files.createDirectories(file.getParent());
        Files.write(file, driver.getScreenshotAs(OutputType.BYTES));
    }

    @Override
    public void close() throws IOException {
        try {
            driver.quit();
        } finally {
            profile.close();
        }
    }
}

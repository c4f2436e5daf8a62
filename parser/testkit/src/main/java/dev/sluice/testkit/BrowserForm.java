package dev.sluice.testkit;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** An HTML form that Chromium submits. The page needs no server. */
public final class BrowserForm {
    private static final String PAGE = """
            <!doctype html><meta charset="utf-8">
            <form method="post" enctype="multipart/form-data" action="%s">
              <input name="title" value="Sea"><input type="file" name="%s" multiple><input type="file" name="%s">
            </form>
            <script>
              const data = new DataTransfer();
              for (const name of ['a b.jpg', 'größe ☃.jpg']) data.items.add(new File([name], name, {type: 'image/jpeg'}));
              document.querySelector('[multiple]').files = data.files;
              document.forms[0].submit();
            </script>
            """;

    private BrowserForm() {}

    /**
     * {@return the page that the browser shows after submitting a form with a title, two files, and an empty input}
     *
     * @param field the name of both file inputs
     * @param scratch an existing directory
     */
    public static String submit(URI target, String field, Path scratch) throws IOException, InterruptedException {
        Path program = Stream.of("chromium", "chromium-browser", "google-chrome")
                .flatMap(name -> Stream.of(System.getenv("PATH").split(File.pathSeparator))
                        .map(directory -> Path.of(directory, name)))
                .filter(Files::isExecutable)
                .findFirst()
                .orElse(null);
        Installed.require("chromium", program != null);
        Path page = Files.writeString(scratch.resolve("form.html"), PAGE.formatted(target, field, field));
        Path shown = scratch.resolve("shown.html");
        Process browser = new ProcessBuilder(List.of(
                        String.valueOf(program),
                        "--headless=new",
                        "--no-sandbox",
                        "--disable-gpu",
                        "--disable-dev-shm-usage",
                        "--disable-background-networking",
                        "--no-first-run",
                        "--no-proxy-server",
                        "--user-data-dir=" + scratch.resolve("profile"),
                        "--virtual-time-budget=60000",
                        "--dump-dom",
                        page.toUri().toString()))
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .redirectOutput(shown.toFile())
                .start();
        if (!browser.waitFor(2, TimeUnit.MINUTES)) {
            browser.destroyForcibly();
            throw new AssertionError("Chromium did not end");
        }
        return Files.readString(shown, StandardCharsets.UTF_8);
    }
}

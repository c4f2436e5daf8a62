package dev.sluice.samples.upload.clients;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.sluice.samples.upload.ServerConfig;
import dev.sluice.samples.upload.UploadServer;
import dev.sluice.testkit.ProofSize;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * A form rejected in mid-upload, with nearly 8 MiB of it still to send. Each client must receive the response every
 * time, except the client of JDK 17, whose misses are only reported.
 */
@Tag("sized")
final class RejectionTest {
    private static final int TIMES = ProofSize.of("sluice.refusals", 10, 40);
    private static final int BEFORE = 1 << 20;
    private static final int AFTER = (8 << 20) - 1000;
    private static final String LONG_NAME = "x".repeat(20_000);

    private static final List<FormPart> FORM = List.of(
            FormPart.file("f", "before.bin", "application/octet-stream", FormPart.bytes(BEFORE)),
            FormPart.field(LONG_NAME, "longer than any header section may be"),
            FormPart.file("f", "after.bin", "application/octet-stream", FormPart.bytes(AFTER)));

    private static final String FETCH = """
            const [name, before, after] = arguments;
            const form = new FormData();
            form.append('f', new File([new Uint8Array(before)], 'before.bin'));
            form.append(name, 'longer than any header section may be');
            form.append('f', new File([new Uint8Array(after)], 'after.bin'));
            return fetch('/upload', {method: 'POST', body: form})
              .then(answer => answer.text().then(text => [answer.status, text]))
              .catch(e => [0, String(e)]);
            """;

    @TempDir
    Path directory;

    private interface Attempt {
        ServerResponse send() throws IOException, InterruptedException;
    }

    @TestFactory
    Stream<DynamicNode> response_isReceivedDuringUpload() throws IOException {
        UploadServer server = UploadServer.start(ServerConfig.of(directory));
        URI target = server.uri().resolve("/upload");
        CurlClient curl = new CurlClient();
        JavaHttpClient java = new JavaHttpClient();
        // The client of older JDKs may miss the response, which is only reported.
        boolean reads = Runtime.version().feature() > 17;
        Stream<DynamicNode> programs = Stream.concat(
                Presence.of(
                        "curl", curl.isPresent(), () -> Stream.of(test("curl", true, () -> curl.post(target, FORM)))),
                Stream.of(test("java.net.http", reads, () -> java.post(target, FORM))));
        Stream<DynamicNode> browsers = Browser.tests(browser -> {
            browser.driver().get(server.uri().toString());
            return Stream.of(test("chromium", true, () -> fetched(browser)));
        });
        return Stream.concat(programs, browsers).onClose(server::close);
    }

    /** @param always whether a missed response is a failure */
    private static DynamicTest test(String client, boolean always, Attempt attempt) {
        return dynamicTest(client, () -> {
            List<String> unread = new ArrayList<>();
            for (int i = 0; i < TIMES; i++) {
                try {
                    attempt.send().assertRejected(413, "HEADER_SECTION_TOO_LARGE");
                } catch (IOException e) {
                    unread.add(e.toString());
                }
            }
            System.out.printf("RejectionTest: %s received %d of %d answers%n", client, TIMES - unread.size(), TIMES);
            assertTrue(!always || unread.isEmpty(), unread::toString);
        });
    }

    private static ServerResponse fetched(Browser browser) throws IOException {
        List<?> answer = browser.runForList(FETCH, LONG_NAME, BEFORE, AFTER);
        int status = ((Number) answer.get(0)).intValue();
        if (status == 0) {
            throw new IOException(String.valueOf(answer.get(1)));
        }
        return new ServerResponse(status, String.valueOf(answer.get(1)));
    }
}

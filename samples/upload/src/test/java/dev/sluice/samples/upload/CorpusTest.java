package dev.sluice.samples.upload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.samples.report.PresetName;
import dev.sluice.samples.upload.UploadServer.Transport;
import dev.sluice.samples.upload.clients.Answer;
import dev.sluice.samples.upload.clients.BodyClient;
import dev.sluice.samples.upload.clients.BodyClient.Body;
import dev.sluice.samples.upload.clients.Browser;
import dev.sluice.samples.upload.clients.Presence;
import dev.sluice.samples.upload.clients.Program;
import dev.sluice.testkit.Corpus;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every body of the corpus, sent by real clients over HTTP/1.1, HTTP/1.1 in TLS, and HTTP/2. The server's answer must
 * equal the result of the inspector, which reads a file. In each build the clients and presets take turns, so that each
 * body is sent once; with {@code -Pfull} each client sends each body in each preset. Uses NIO, or epoll with {@code
 * -Pepoll}.
 */
@Tag("sized")
class CorpusTest {
    private static final boolean FULL = Boolean.getBoolean("sluice.full");

    /** The number of runs among which the bodies are divided: all combinations of clients and protocols except the browser. */
    private static final int CLIENT_RUNS = 15;

    private static final JsonMapper JSON = JsonMapper.builder().build();

    /** @param expected the result of the inspector */
    private record Case(String id, Body body, ObjectNode expected) {}

    @TempDir
    Path directory;

    @TestFactory
    Stream<DynamicNode> answer_equalsInspectorResult() throws IOException {
        Transport transport = Boolean.getBoolean("sluice.epoll")
                ? new Transport(EpollIoHandler.newFactory(), EpollServerSocketChannel.class)
                : Transport.NIO;
        List<Case> cases = cases();
        UploadServer plain = UploadServer.start(ServerConfig.of(directory.resolve("plain")), transport);
        UploadServer tls =
                UploadServer.start(ServerConfig.of(directory.resolve("tls")).withTls(true), transport);
        ClientRuns runs = new ClientRuns(plain.uri(), tls.uri(), cases, new AtomicInteger());
        Optional<Program> curl = Program.find("curl");
        Optional<Program> node = Program.find("node", "nodejs");
        Stream<DynamicNode> clients = Stream.of(
                        Presence.of("curl", curl.isPresent(), () -> runs.tests("curl", BodyClient.curl())),
                        Presence.of("node", node.isPresent(), () -> runs.tests("node", BodyClient.node(node.get()))),
                        runs.tests("okhttp", BodyClient.okHttp()),
                        runs.tests("apache-httpclient5", BodyClient.apache()),
                        runs.tests("java.net.http", BodyClient.jdk()))
                .flatMap(tests -> tests);
        Stream<DynamicNode> browsers = Browser.tests(browser -> runs.browsed(BodyClient.chromium(browser)));
        return Stream.concat(clients, browsers).onClose(() -> {
            plain.close();
            tls.close();
        });
    }

    /** @param sent the number of tests so far */
    private record ClientRuns(URI plain, URI tls, List<Case> cases, AtomicInteger sent) {
        Stream<DynamicTest> tests(String client, BodyClient by) {
            return Stream.of(
                    test(client + " over HTTP/1.1", by, plain, false),
                    test(client + " over HTTP/1.1 in TLS", by, tls, false),
                    test(client + " over HTTP/2", by, tls, true));
        }

        /** A browser does not use HTTP/1.1 with a TLS server that supports HTTP/2. */
        Stream<DynamicTest> browsed(BodyClient by) {
            return Stream.of(
                    test("chromium over HTTP/1.1", by, plain, false), test("chromium over HTTP/2", by, tls, true));
        }

        private DynamicTest test(String name, BodyClient by, URI root, boolean http2) {
            int turn = sent.getAndIncrement();
            return dynamicTest(name, () -> {
                List<Case> some = IntStream.range(0, cases.size())
                        .filter(i -> FULL || i % CLIENT_RUNS == turn % CLIENT_RUNS)
                        .mapToObj(cases::get)
                        .toList();
                List<Answer> answers =
                        by.send(root, http2, some.stream().map(Case::body).toList());
                assertEquals(some.size(), answers.size());
                for (int i = 0; i < some.size(); i++) {
                    assertAnswer(some.get(i), answers.get(i));
                }
            });
        }
    }

    private static void assertAnswer(Case sent, Answer answer) throws IOException {
        ObjectNode actual = (ObjectNode) answer.json();
        ObjectNode expected = sent.expected.deepCopy();
        boolean refused = !actual.path("error").isNull();
        assertEquals(refused, answer.status() != 200, () -> sent.id + ": " + answer);
        if (expected.toString().contains("_charset_") && !expected.equals(actual)) { // only a form reads that field
            assertTrue(actual.toString().contains("CHARSET"), sent::id);
            return;
        }
        if (refused) {
            expected.putArray("deviations"); // only of a valid body
        }
        assertEquals(expected, actual, sent::id);
    }

    private List<Case> cases() throws IOException {
        List<Case> cases = new ArrayList<>();
        for (Corpus.Case each : Corpus.cases()) {
            Path file = Files.write(directory.resolve("body" + cases.size()), each.body());
            String type = each.contentType().strip(); // HTTP strips the whitespace around a field value
            if (each.isFormData() && type.chars().allMatch(c -> c >= ' ')) { // as HTTP requires
                List<PresetName> all = List.of(PresetName.values());
                for (PresetName preset : FULL ? all : List.of(all.get(cases.size() / CLIENT_RUNS % all.size()))) {
                    StringWriter out = new StringWriter();
                    Main.commandLine(new PrintWriter(out), new PrintWriter(new StringWriter()))
                            .execute(
                                    "inspect", "--json", "--preset=" + preset, "--content-type", type, file.toString());
                    Body body = new Body("/inspect?preset=" + preset, type, file);
                    cases.add(new Case(each.id() + ", " + preset, body, (ObjectNode) JSON.readTree(out.toString())));
                }
            }
        }
        assertTrue(
                cases.size()
                        > (FULL ? PresetName.values().length : 1)
                                * Corpus.cases().size()
                                * 0.8,
                "too many bodies were skipped");
        return cases;
    }
}

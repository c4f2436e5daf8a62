package dev.sluice.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.testkit.Eventually;
import dev.sluice.testkit.LeakCheck;
import dev.sluice.testkit.LeakDetection;
import dev.sluice.testkit.RawHttp;
import dev.sluice.testkit.SpooledFiles;
import dev.sluice.webflux.SluiceWebFlux;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.core.annotation.Order;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.http.codec.multipart.FilePart;
import org.springframework.http.codec.multipart.FilePartEvent;
import org.springframework.http.codec.multipart.FormFieldPart;
import org.springframework.http.codec.multipart.Part;
import org.springframework.http.codec.multipart.PartEvent;
import org.springframework.util.ClassUtils;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestPart;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.netty.channel.AbortedException;
import reactor.netty.http.server.HttpServer;

/**
 * Tests a WebFlux application on Reactor Netty. Only its handlers of {@code /own} and {@code /detached} refer to
 * Sluice. All Netty buffers are tracked.
 */
@Timeout(300)
@ExtendWith({LeakCheck.class, OutputCaptureExtension.class})
class WebFluxTest {
    private static final int MIB = 1 << 20;
    private static final ChannelGroup CHANNELS = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private static final AtomicLong ACCEPTED = new AtomicLong();
    private static final AtomicLong CONNECTED = new AtomicLong();

    @TempDir
    private Path directory;

    private RunningApplication application;
    private ConfigurableApplicationContext context;

    /**
     * Registers Boot's Netty server, because Boot would prefer Tomcat. Its classes have different names in Boot 3 and
     * 4.
     */
    static class Netty implements ImportBeanDefinitionRegistrar {
        @Override
        public void registerBeanDefinitions(AnnotationMetadata importing, BeanDefinitionRegistry registry) {
            String where = Stream.of("web.embedded.netty", "reactor.netty")
                    .map(name -> "org.springframework.boot." + name + ".Netty")
                    .filter(name -> ClassUtils.isPresent(name + "ServerCustomizer", null))
                    .findFirst()
                    .orElseThrow();
            Class<?> customizer = ClassUtils.resolveClassName(where + "ServerCustomizer", null);
            Object counting = Proxy.newProxyInstance(
                    customizer.getClassLoader(),
                    new Class<?>[] {customizer},
                    (proxy, method, of) -> method.getDeclaringClass() == Object.class
                            ? method.invoke(CHANNELS, of)
                            : ((HttpServer) of[0]).doOnChannelInit((observer, channel, address) -> {
                                CHANNELS.add(channel);
                                ACCEPTED.incrementAndGet();
                            }));
            RootBeanDefinition server = new RootBeanDefinition(where + "ReactiveWebServerFactory");
            server.getPropertyValues().add("serverCustomizers", List.of(counting));
            registry.registerBeanDefinition("server", server);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({Netty.class, Controller.class})
    static class Uploads {
        /**
         * Suppresses responses to closed connections. Reactor Netty 1.2.18 leaks the buffer of a response that is created
         * while the connection is being closed. A shutdown aborts bodies that are arriving, and so causes such responses. The leak does not
         * depend on the readers: it also occurs with Spring's readers and without any.
         */
        @Bean
        @Order(-2)
        WebExceptionHandler noAnswerAfterClose(ConfigurableApplicationContext context) {
            return (exchange, failure) -> Mono.error(
                    failure instanceof IOException || context.isClosed() ? new AbortedException(failure) : failure);
        }

        @Bean
        RouterFunction<ServerResponse> functions() {
            return RouterFunctions.route()
                    .POST(
                            "/function",
                            request -> request.multipartData()
                                    .flatMap(parts -> ServerResponse.ok().bodyValue("parts " + parts.size())))
                    .build();
        }
    }

    record Model(String title, FilePart file) {}

    @RestController
    static class Controller {
        final CountDownLatch begun = new CountDownLatch(1);
        final AtomicLong seen = new AtomicLong();
        final Sinks.Empty<Void> resume = Sinks.empty();

        @PostMapping("/upload")
        Mono<String> upload(@RequestPart("title") String title, @RequestPart("file") FilePart file) {
            return size(file.content()).map(size -> title + " " + file.filename() + " " + size);
        }

        private static Mono<Integer> size(Flux<DataBuffer> content) {
            return content.map(buffer -> {
                        int size = buffer.readableByteCount();
                        DataBufferUtils.release(buffer);
                        return size;
                    })
                    .reduce(0, Integer::sum);
        }

        @PostMapping("/model")
        Mono<String> model(@ModelAttribute Model model) {
            return size(model.file().content()).map(size -> model.title() + " " + size);
        }

        @PostMapping("/exchange")
        Mono<String> exchange(ServerWebExchange exchange) {
            return exchange.getMultipartData()
                    .map(parts -> ((FormFieldPart) parts.getFirst("title")).value() + parts.keySet());
        }

        /** Receives the form with its own options. */
        @PostMapping("/own")
        Mono<String> own(ServerWebExchange exchange) {
            SluiceWebFlux forms =
                    Objects.requireNonNull(exchange.getApplicationContext()).getBean(SluiceWebFlux.class);
            return forms.form(exchange.getRequest(), options -> options.maxPartBytes(MIB))
                    .map(form -> "own " + form.parts().get(1).size());
        }

        /** Subscribes without the Reactor context of the request. */
        @PostMapping("/detached")
        Mono<String> detached(ServerWebExchange exchange) {
            SluiceWebFlux forms =
                    Objects.requireNonNull(exchange.getApplicationContext()).getBean(SluiceWebFlux.class);
            return Mono.fromFuture(forms.form(exchange.getRequest(), options -> options)
                    .map(form -> "received " + form.parts().size())
                    .toFuture());
        }

        @PostMapping("/parts")
        Mono<String> parts(@RequestBody Flux<Part> parts) {
            return parts.map(Part::name).collectList().map(List::toString);
        }

        @PostMapping("/transfer")
        Mono<String> transfer(@RequestPart("file") FilePart file) throws IOException {
            Path target = Files.createTempFile("sluice-webflux", ".tmp");
            return file.transferTo(target).then(Mono.fromCallable(() -> {
                long size = Files.size(target);
                Files.delete(target);
                return "transferred " + size;
            }));
        }

        @PostMapping("/echo")
        Flux<DataBuffer> echo(@RequestPart("file") FilePart file) {
            return file.content();
        }

        @PostMapping("/events")
        Mono<String> events(@RequestBody Flux<PartEvent> events) {
            return size(events.map(PartEvent::content)).map(size -> "events " + size);
        }

        /** Fails at the first event of a file. */
        @PostMapping("/picky")
        Mono<String> picky(@RequestBody Flux<PartEvent> events) {
            return events.map(event -> {
                        if (event instanceof FilePartEvent) {
                            throw new IllegalStateException("a file");
                        }
                        return event.name();
                    })
                    .collectList()
                    .map(List::toString);
        }

        /** Processes one event and then waits for {@code resume}. */
        @PostMapping("/slow")
        Mono<String> slow(@RequestBody Flux<PartEvent> events) {
            return events.concatMap(
                            event -> {
                                seen.addAndGet(event.content().readableByteCount());
                                begun.countDown();
                                return resume.asMono().thenReturn(event);
                            },
                            1)
                    .then(Mono.fromCallable(() -> "slow " + seen));
        }

        /** Cancels after three events. */
        @PostMapping("/some")
        Mono<String> some(@RequestBody Flux<PartEvent> events) {
            return events.take(3).then(Mono.just("some"));
        }

        @PostMapping("/hang")
        Mono<String> hang(@RequestPart("file") FilePart file) {
            begun.countDown();
            return Mono.never();
        }

        @PostMapping("/failing")
        Mono<String> failing(@RequestPart("file") FilePart file) {
            return Mono.error(new IllegalStateException(file.filename()));
        }
    }

    /** Loads Netty's HTTP classes, whose static buffers are never released and would look like leaks. */
    @BeforeAll
    static void loadHttpClasses() {
        new EmbeddedChannel(new HttpServerCodec()).finishAndReleaseAll();
    }

    private void start(String... properties) {
        List<String> all = new ArrayList<>(List.of(
                "--spring.main.web-application-type=reactive",
                "--spring.webflux.multipart.file-storage-directory=" + directory,
                "--management.endpoints.web.exposure.include=metrics",
                RunningApplication.NO_SECURITY));
        all.addAll(List.of(properties));
        application = RunningApplication.start(List.of(Uploads.class), all.toArray(String[]::new));
        context = application.context();
    }

    /** Resets the counters, which other test classes use too. */
    @BeforeEach
    void countFromZero() {
        ACCEPTED.set(0);
        CONNECTED.set(0);
    }

    @AfterEach
    void nothingIsLeft() throws Exception {
        assertNothingIsKept();
        context.close();
        try (Stream<Path> left = Files.list(directory)) {
            assertEquals(List.of(), left.toList());
        }
    }

    /** A request ends shortly after its response, and a channel closes before its last buffer is released. */
    private void assertNothingIsKept() {
        Eventually.passes(() -> {
            assertEquals(CONNECTED.get(), ACCEPTED.get());
            assertTrue(CHANNELS.isEmpty(), "a channel is open");
            assertEquals(0, context.isActive() ? application.heldResources() : 0);
            assertEquals(0, LeakDetection.open());
        });
    }

    private static String form(String title, int size) {
        return "--B\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\n" + title
                + "\r\n--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f.txt\"\r\n\r\n"
                + "x".repeat(size) + "\r\n--B--\r\n";
    }

    private RawHttp connect() throws IOException {
        RawHttp connection = application.connect();
        CONNECTED.incrementAndGet();
        return connection;
    }

    /** Sends the head of a form of {@code length} bytes, and {@code body}. */
    private static RawHttp send(RawHttp to, String path, String type, int length, String body) throws IOException {
        String head = "POST " + path + " HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Type: " + type
                + "; boundary=B\r\nContent-Length: " + length + "\r\n\r\n";
        return to.send(head + body);
    }

    private RawHttp.Response post(String path, String type, String body) throws IOException {
        try (RawHttp connection = connect()) {
            return send(connection, path, type, body.length(), body).response();
        }
    }

    private RawHttp.Response post(String path, String body) throws IOException {
        return post(path, "multipart/form-data", body);
    }

    private void assertCounted(int forms) throws IOException {
        try (RawHttp connection = connect()) {
            String meters = connection
                    .send("GET /actuator/metrics/sluice.forms HTTP/1.0\r\n\r\n")
                    .response()
                    .body();
            assertTrue(meters.contains("\"statistic\":\"COUNT\",\"value\":" + forms + ".0"), meters);
        }
    }

    private static void assertAnswer(String expected, RawHttp.Response response) {
        assertEquals(200, response.status(), response::body);
        assertTrue(response.body().contains(expected), response::body);
    }

    private static void assertProblem(int status, String part, RawHttp.Response response) {
        assertEquals(status, response.status(), response::body);
        assertEquals("application/problem+json", response.headers().get("content-type"));
        assertTrue(response.body().contains(part), response::body);
    }

    @Test
    void controllers_readUploads() throws Exception {
        start();
        for (int size : new int[] {0, 100, MIB}) {
            assertAnswer("one f.txt " + size, post("/upload", form("one", size)));
            assertAnswer("one " + size, post("/model", form("one", size)));
            assertAnswer("transferred " + size, post("/transfer", form("one", size)));
            assertAnswer("own " + size, post("/own", form("one", size)));
            assertAnswer("events " + (size + 3), post("/events", form("one", size)));
            String echo = post("/echo", form("one", size)).body();
            assertEquals(size, echo.chars().filter(c -> c == 'x').count());
        }
        assertAnswer("one[title, file]", post("/exchange", form("one", 1)));
        assertAnswer("[title, file]", post("/parts", form("one", MIB)));
        assertAnswer("parts 2", post("/function", form("one", MIB)));
        assertEquals(500, post("/failing", form("one", MIB)).status());
        assertProblem(413, "\"limit\":\"maxPartBytes\"", post("/own", form("one", MIB + 1)));
        assertCounted(23);
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void form_withoutEndOfRequest_isNotReceived(CapturedOutput output) throws Exception {
        start("--logging.level.org.springframework.boot=ERROR");
        for (String type : List.of("multipart/form-data", "Multipart/FORM-data")) {
            assertEquals(500, post("/detached", type, form("one", MIB)).status(), type);
        }
        assertTrue(output.getAll().contains("Define SluiceWebFlux as a bean, and return the Mono."), output::getAll);
        assertEquals(415, post("/detached", "application/json", "{}").status());
    }

    @Test
    void rejection_isProblemJsonThatNamesTheLimit() throws Exception {
        start("--spring.webflux.multipart.max-disk-usage-per-part=2MB", "--sluice.max-files=1");
        for (String path : List.of("/upload", "/exchange", "/parts", "/events", "/function")) {
            for (int size : new int[] {2 * MIB + 1, 3 * MIB - 1000}) { // the client sends everything before it reads
                assertProblem(413, "\"limit\":\"maxPartBytes\"", post(path, form("more", size)));
            }
            String cut = form("cut", 1000).substring(0, 400);
            assertProblem(400, "\"reason\":\"truncated\"", post(path, cut));
        }
        RawHttp.Response other = post("/parts", "multipart/mixed", form("", 10));
        assertProblem(415, "\"reason\":\"unsupported_media_type\"", other);
        assertProblem(415, "\"detail\":\"the Content-Type is not multipart/form-data", other);
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void rejectedHeads_areCountedAndLoggedOnce(CapturedOutput output) throws Exception {
        start("--sluice.max-body-bytes=1KiB", "--sluice.log-rejected=warn");
        for (String path : List.of("/upload", "/parts", "/events")) {
            assertEquals(413, post(path, form("more", 2000)).status());
        }
        assertEquals(415, post("/parts", "multipart/mixed", form("", 10)).status());
        assertCounted(4);
        String logged = output.getAll();
        assertEquals(4, logged.split("a form was rejected from 127.0.0.1 ", -1).length - 1, logged);
        for (String reason : List.of("(BODY_TOO_LARGE): ", "(UNSUPPORTED_MEDIA_TYPE): ")) {
            assertTrue(logged.contains(reason), logged);
        }
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void rejectedForm_isLoggedWithPartAndClient(CapturedOutput output) throws Exception {
        start("--server.forward-headers-strategy=framework", "--sluice.log-rejected=warn");
        String body = form("more", 5000);
        String cut = body.substring(0, 3000);
        List<String> paths = List.of("/upload", "/parts", "/events", "/own");
        for (String path : paths) {
            assertEquals(400, post(path, cut).status());
        }
        String line = "a form was rejected from 127.0.0.1 (TRUNCATED): the body ends before its close-delimiter"
                + " (part 1 \"file\", offset 3000)";
        assertEquals(paths.size(), output.getAll().split(Pattern.quote(line), -1).length - 1, output::getAll);
        String head = "multipart/mixed; x=y\r\nX-Forwarded-For: 203.0.113.7\r\nX-Any: any";
        assertEquals(415, post("/parts", head, "--B-").status());
        assertTrue(output.getAll().contains("a form was rejected from 203.0.113.7 "), output::getAll);
    }

    @Test
    void rejection_whenHtmlIsPreferred_isTheErrorPage() throws Exception {
        start("--sluice.max-part-bytes=1KB");
        String head = "multipart/form-data; boundary=B\r\nAccept: text/html, */*;q=0.8\r\nX-Any: any";
        for (String path : List.of("/upload", "/exchange", "/events")) {
            RawHttp.Response response = post(path, head, form("more", 5000));
            assertEquals(413, response.status(), path);
            assertTrue(response.headers().get("content-type").startsWith("text/html"), path);
            assertTrue(response.body().contains("Whitelabel Error Page"), response::body);
        }
    }

    @Test
    void limits_ofBootAndSluice_applyTogether() throws Exception {
        String field = "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n";
        String file = field.replace("\"a\"", "\"a\"; filename=\"f\"");
        start();
        assertEquals(200, post("/parts", field.repeat(1001) + "--B--\r\n").status());
        assertEquals(200, post("/parts", file.repeat(100) + "--B--\r\n").status());
        assertProblem(413, "\"limit\":\"maxFiles\"", post("/parts", file.repeat(101) + "--B--\r\n"));
        try (RawHttp connection = connect()) { // rejected because of its Content-Length
            send(connection, "/parts", "multipart/form-data", (64 << 20) + 1, "")
                    .sendEnd();
            assertProblem(413, "\"limit\":\"maxBodyBytes\"", connection.response());
        }
        context.close();
        start("--spring.webflux.multipart.max-parts=3");
        assertEquals(200, post("/parts", field.repeat(3) + "--B--\r\n").status());
        assertProblem(413, "\"limit\":\"maxParts\"", post("/parts", field.repeat(4) + "--B--\r\n"));
    }

    @Test
    void truncatedBody_whenHandlerRejectsFiles_isABadRequest() throws Exception {
        start();
        String whole = form("one", 1000);
        assertEquals(500, post("/picky", whole).status());
        assertProblem(400, "\"reason\":\"truncated\"", post("/picky", whole.substring(0, 400)));
    }

    @Test
    void slowController_stopsTheClient() throws Exception {
        start();
        Controller controller = context.getBean(Controller.class);
        int size = 48 * MIB;
        AtomicLong sent = new AtomicLong();
        try (RawHttp connection = connect()) {
            byte[] body = form("one", size).getBytes(StandardCharsets.ISO_8859_1);
            send(connection, "/slow", "multipart/form-data", body.length, "");
            Thread client = new Thread(() -> {
                try {
                    for (int at = 0, count; at < body.length; at += count) {
                        count = Math.min(64 << 10, body.length - at);
                        connection.send(body, at, at + count);
                        sent.addAndGet(count);
                    }
                } catch (IOException e) {
                    sent.set(-1);
                }
            });
            client.start();
            controller.begun.await();
            long before;
            do {
                before = sent.get();
                Thread.sleep(500);
            } while (sent.get() > before);
            assertTrue(before < size / 2, before + " bytes were sent while the controller was waiting");
            controller.resume.tryEmitEmpty();
            assertAnswer("slow " + (size + 3), connection.response());
            client.join();
        }
    }

    @Test
    void handlerThatCancelsEvents_canStillRespond() throws Exception {
        start();
        String body = form("one", 4 * MIB);
        try (RawHttp connection = connect()) {
            Thread client = new Thread(() -> {
                try {
                    send(connection, "/some", "multipart/form-data", body.length(), body);
                } catch (IOException e) {
                    // The server has answered and closed the connection.
                }
            });
            client.start();
            assertAnswer("some", connection.response());
            client.join();
        }
    }

    /** Spring #36262, #28740: the client disconnects while its body is in memory, in a file or in neither. */
    @Test
    void disconnect_duringUpload_leavesNothing() throws Exception {
        start("--spring.webflux.multipart.max-in-memory-size=1KB");
        String body = form("one", MIB);
        for (String path : List.of("/upload", "/parts", "/events", "/exchange")) {
            for (int sent : new int[] {0, 60, 200, 5000, 200_000, MIB}) {
                for (boolean resets : new boolean[] {false, true}) {
                    try (RawHttp connection = connect()) {
                        send(connection, path, "multipart/form-data", body.length(), body.substring(0, sent));
                        if (resets) {
                            connection.reset();
                        }
                    }
                }
            }
            assertNothingIsKept();
        }
    }

    /**
     * @param finished whether the client sends the rest of the body; otherwise the upload ends after the grace period
     *     of the shutdown
     */
    @ParameterizedTest
    @CsvSource({"/upload, true", "/upload, false", "/parts, false", "/events, true", "/events, false"})
    void shutdown_duringUpload_finishesOrEndsIt(String path, boolean finished, CapturedOutput output) throws Exception {
        start(
                "--server.shutdown=graceful",
                "--spring.lifecycle.timeout-per-shutdown-phase=" + (finished ? "120s" : "100ms"),
                "--logging.level.root=ERROR",
                "--logging.level.dev.sluice=ERROR",
                // Logs the exception of noAnswerAfterClose if the body fails before the request is cancelled.
                "--logging.level.org.springframework.web.server.adapter=OFF");
        String body = form("one", MIB);
        SpoolDirectory spool = context.getBean(SpoolDirectory.class);
        MemoryBudget memory = context.getBean(MemoryBudget.class);
        boolean files = !path.equals("/events");
        AtomicBoolean closing = new AtomicBoolean();
        context.addApplicationListener(event -> closing.compareAndSet(false, event instanceof ContextClosedEvent));
        try (RawHttp connection = connect()) {
            send(connection, path, "multipart/form-data", body.length(), body.substring(0, body.length() / 2));
            Eventually.isTrue(() -> files ? spool.files() == 1 : memory.used() > 0, "the form is not received");
            Thread stopping = new Thread(context::close);
            stopping.start();
            if (finished) {
                Eventually.isTrue(closing::get, "the application does not stop");
                connection.send(body.substring(body.length() / 2));
                assertAnswer(files ? "one f.txt " + MIB : "events " + (MIB + 3), connection.response());
            }
            stopping.join();
            assertEquals(List.of(), SpooledFiles.below(directory), "files after the application has stopped");
            if (!finished) {
                assertThrows(IOException.class, connection::response); // closed or reset without a response
            }
        }
        Eventually.isTrue(() -> spool.files() == 0 && memory.used() == 0, "the form is not released");
        // Reactor Netty logs an error itself if its event loops end before its shutdown thread.
        assertFalse(output.getAll().contains("dev.sluice"), output::getAll);
    }

    /** Spring #31217: a disconnect cancels the handler, which does not delete its file. */
    @Test
    void disconnect_whileHandlerWorks_leavesNoFile() throws Exception {
        start();
        String body = form("one", MIB);
        try (RawHttp connection = connect()) {
            send(connection, "/hang", "multipart/form-data", body.length(), body);
            context.getBean(Controller.class).begun.await();
            assertEquals(1, SpooledFiles.below(directory).size());
        }
        assertNothingIsKept();
        assertEquals(List.of(), SpooledFiles.below(directory));
    }
}

package dev.sluice.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.testkit.Eventually;
import dev.sluice.testkit.LeakCheck;
import dev.sluice.testkit.LeakDetection;
import dev.sluice.testkit.SpooledFiles;
import dev.sluice.webflux.SluiceWebFlux;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Proxy;
import java.net.Socket;
import java.net.SocketException;
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
import java.util.stream.Collectors;
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
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
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
    /** Excludes Spring Security, whose classes have different names in Boot 3 and 4. */
    static final String NO_SECURITY = "--spring.autoconfigure.exclude="
            + Stream.of(
                            "autoconfigure.security.reactive.ReactiveSecurityAutoConfiguration",
                            "autoconfigure.security.reactive.ReactiveUserDetailsServiceAutoConfiguration",
                            "actuate.autoconfigure.security.reactive.ReactiveManagementWebSecurityAutoConfiguration",
                            "security.autoconfigure.ReactiveUserDetailsServiceAutoConfiguration",
                            "security.autoconfigure.web.reactive.ReactiveWebSecurityAutoConfiguration",
                            "security.autoconfigure.actuate.web.reactive.ReactiveManagementWebSecurityAutoConfiguration")
                    .map("org.springframework.boot."::concat)
                    .collect(Collectors.joining(","));

    private static final ChannelGroup CHANNELS = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    private static final AtomicLong ACCEPTED = new AtomicLong();
    private static final AtomicLong CONNECTED = new AtomicLong();

    @TempDir
    private Path directory;

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
    @Import(Netty.class)
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
        Controller controller() {
            return new Controller();
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
        List<String> all = new ArrayList<>(List.of(properties));
        all.addAll(List.of(
                "--server.port=0",
                "--server.address=127.0.0.1",
                "--spring.main.banner-mode=off",
                "--spring.webflux.multipart.file-storage-directory=" + directory,
                "--management.endpoints.web.exposure.include=metrics",
                NO_SECURITY));
        if (all.stream().noneMatch(property -> property.startsWith("--logging.level.root"))) {
            all.add("--logging.level.root=OFF");
        }
        if (!all.contains("--server.shutdown=graceful")) { // a graceful shutdown needs the quiet period
            all.add("--spring.reactor.netty.shutdown-quiet-period=0s");
        }
        context = new SpringApplicationBuilder(Uploads.class)
                .web(WebApplicationType.REACTIVE)
                .run(all.toArray(String[]::new));
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
            assertEquals(0, heldResources());
            assertEquals(0, LeakDetection.open());
        });
    }

    /**
     * {@return the number of files plus the number of bytes in memory that forms hold; 0 if the application has stopped or Sluice is
     * disabled}
     */
    private long heldResources() {
        if (!context.isActive()) {
            return 0;
        }
        return context.getBeanProvider(SpoolDirectory.class).stream()
                        .mapToLong(SpoolDirectory::files)
                        .sum()
                + context.getBeanProvider(MemoryBudget.class).stream()
                        .mapToLong(MemoryBudget::used)
                        .sum();
    }

    private static String form(String title, int size) {
        return "--B\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\n" + title
                + "\r\n--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f.txt\"\r\n\r\n"
                + "x".repeat(size) + "\r\n--B--\r\n";
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket(
                "127.0.0.1", context.getEnvironment().getRequiredProperty("local.server.port", Integer.class));
        socket.setSoTimeout(120_000);
        CONNECTED.incrementAndGet();
        return socket;
    }

    private static void send(Socket to, String path, String type, int length, String body) throws IOException {
        String head = "POST " + path + " HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Type: " + type
                + "; boundary=B\r\nContent-Length: " + length + "\r\n\r\n";
        to.getOutputStream().write((head + body).getBytes(StandardCharsets.ISO_8859_1));
    }

    private static String answer(Socket from) throws IOException {
        InputStream in = from.getInputStream();
        return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }

    private String post(String path, String body) throws IOException {
        try (Socket socket = connect()) {
            send(socket, path, "multipart/form-data", body.length(), body);
            return answer(socket);
        }
    }

    private static void assertEnds(String expected, String response) {
        assertTrue(response.startsWith("HTTP/1.1 200 ") && response.contains(expected), response);
    }

    @Test
    void controllers_readUploads() throws Exception {
        start();
        for (int size : new int[] {0, 100, MIB}) {
            assertEnds("one f.txt " + size, post("/upload", form("one", size)));
            assertEnds("one " + size, post("/model", form("one", size)));
            assertEnds("transferred " + size, post("/transfer", form("one", size)));
            assertEnds("own " + size, post("/own", form("one", size)));
            assertEnds("events " + (size + 3), post("/events", form("one", size)));
            String echo = post("/echo", form("one", size));
            assertEquals(
                    size,
                    echo.substring(echo.indexOf("\r\n\r\n"))
                            .chars()
                            .filter(c -> c == 'x')
                            .count());
        }
        assertEnds("one[title, file]", post("/exchange", form("one", 1)));
        assertEnds("[title, file]", post("/parts", form("one", MIB)));
        assertEnds("parts 2", post("/function", form("one", MIB)));
        assertTrue(post("/failing", form("one", MIB)).startsWith("HTTP/1.1 500 "));
        try (Socket socket = connect()) {
            socket.getOutputStream()
                    .write("GET /actuator/metrics/sluice.forms HTTP/1.0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            String meters = answer(socket);
            assertTrue(meters.contains("\"statistic\":\"COUNT\",\"value\":22.0"), meters);
        }
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void form_withoutEndOfRequest_isNotReceived(CapturedOutput output) throws Exception {
        start("--logging.level.org.springframework.boot=ERROR");
        String form = form("one", MIB);
        for (String type : List.of("multipart/form-data", "Multipart/FORM-data")) {
            try (Socket socket = connect()) {
                send(socket, "/detached", type, form.length(), form);
                assertTrue(answer(socket).startsWith("HTTP/1.1 500 "), type);
            }
        }
        assertTrue(output.getAll().contains("Define SluiceWebFlux as a bean, and return the Mono."), output::getAll);
        try (Socket socket = connect()) {
            send(socket, "/detached", "application/json", 2, "{}");
            String rejected = answer(socket);
            assertTrue(rejected.startsWith("HTTP/1.1 415 "), rejected);
        }
    }

    @Test
    void ownOptions_limitForm() throws Exception {
        start();
        String tooLarge = post("/own", form("one", MIB + 1));
        assertTrue(tooLarge.startsWith("HTTP/1.1 413 "), tooLarge);
        assertTrue(tooLarge.contains("\"limit\":\"maxPartBytes\""), tooLarge);
    }

    @Test
    void rejection_isProblemJsonThatNamesTheLimit() throws Exception {
        start("--spring.webflux.multipart.max-disk-usage-per-part=2MB", "--sluice.max-files=1");
        for (String path : List.of("/upload", "/exchange", "/parts", "/events", "/function")) {
            for (int size : new int[] {2 * MIB + 1, 3 * MIB - 1000}) { // the client sends everything before it reads
                String tooLarge = post(path, form("more", size));
                assertTrue(tooLarge.startsWith("HTTP/1.1 413 "), tooLarge);
                assertTrue(tooLarge.contains("application/problem+json"), tooLarge);
                assertTrue(tooLarge.contains("\"limit\":\"maxPartBytes\""), tooLarge);
            }
            String malformed = post(path, form("cut", 1000).substring(0, 400));
            assertTrue(malformed.startsWith("HTTP/1.1 400 "), malformed);
            assertTrue(malformed.contains("\"reason\":\"truncated\""), malformed);
        }
        try (Socket socket = connect()) {
            send(socket, "/parts", "multipart/mixed", form("", 10).length(), form("", 10));
            String other = answer(socket);
            assertTrue(other.startsWith("HTTP/1.1 415 "), other);
            assertTrue(other.contains("application/problem+json"), other);
            assertTrue(other.contains("\"reason\":\"unsupported_media_type\""), other);
            assertTrue(other.contains("\"detail\":\"the Content-Type is not multipart/form-data"), other);
        }
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void rejectedHeads_areCountedAndLoggedOnce(CapturedOutput output) throws Exception {
        start("--sluice.max-body-bytes=1KiB", "--sluice.log-rejected=warn", "--logging.level.dev.sluice=WARN");
        for (String path : List.of("/upload", "/parts", "/events")) {
            String tooLarge = post(path, form("more", 2000));
            assertTrue(tooLarge.startsWith("HTTP/1.1 413 "), tooLarge);
        }
        try (Socket socket = connect()) {
            send(socket, "/parts", "multipart/mixed", form("", 10).length(), form("", 10));
            String rejected = answer(socket);
            assertTrue(rejected.startsWith("HTTP/1.1 415 "), rejected);
        }
        try (Socket socket = connect()) {
            socket.getOutputStream()
                    .write("GET /actuator/metrics/sluice.forms HTTP/1.0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            String meters = answer(socket);
            assertTrue(meters.contains("\"statistic\":\"COUNT\",\"value\":4.0"), meters);
        }
        String logged = output.getAll();
        assertEquals(4, logged.split("a form was rejected from 127.0.0.1 ", -1).length - 1, logged);
        for (String reason : List.of("(BODY_TOO_LARGE): ", "(UNSUPPORTED_MEDIA_TYPE): ")) {
            assertTrue(logged.contains(reason), logged);
        }
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void rejectedPart_isLoggedWithNameAndOffset(CapturedOutput output) throws Exception {
        start("--sluice.log-rejected=warn", "--logging.level.dev.sluice=WARN");
        String body = form("more", 5000);
        String cut = body.substring(0, 3000);
        List<String> paths = List.of("/upload", "/parts", "/events", "/own");
        for (String path : paths) {
            assertTrue(post(path, cut).startsWith("HTTP/1.1 400 "));
        }
        String line = "a form was rejected from 127.0.0.1 (TRUNCATED): the body ends before its close-delimiter"
                + " (part 1 \"file\", offset 3000)";
        assertEquals(paths.size(), output.getAll().split(Pattern.quote(line), -1).length - 1, output::getAll);
    }

    @Test
    @ExtendWith(OutputCaptureExtension.class)
    void forwardedClient_isLogged(CapturedOutput output) throws Exception {
        start(
                "--server.forward-headers-strategy=framework",
                "--sluice.log-rejected=warn",
                "--logging.level.dev.sluice=WARN");
        try (Socket socket = connect()) {
            send(socket, "/parts", "multipart/mixed; x=y\r\nX-Forwarded-For: 203.0.113.7\r\nX-Any: any", 4, "--B-");
            String rejected = answer(socket);
            assertTrue(rejected.startsWith("HTTP/1.1 415 "), rejected);
        }
        assertTrue(output.getAll().contains("a form was rejected from 203.0.113.7 "), output::getAll);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/upload", "/exchange", "/events"})
    void rejection_whenHtmlIsPreferred_isTheErrorPage(String path) throws Exception {
        start("--sluice.max-part-bytes=1KB");
        String body = form("more", 5000);
        try (Socket socket = connect()) {
            send(
                    socket,
                    path,
                    "multipart/form-data; boundary=B\r\nAccept: text/html, */*;q=0.8\r\nX-Any: any",
                    body.length(),
                    body);
            String response = answer(socket);
            assertTrue(response.startsWith("HTTP/1.1 413 "), response);
            assertTrue(response.contains("Content-Type: text/html"), response);
            assertTrue(response.contains("Whitelabel Error Page"), response);
        }
    }

    @Test
    void limits_ofBootAndSluice_applyTogether() throws Exception {
        String field = "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n";
        String file = field.replace("\"a\"", "\"a\"; filename=\"f\"");
        start();
        assertTrue(post("/parts", field.repeat(1001) + "--B--\r\n").startsWith("HTTP/1.1 200 "));
        assertTrue(post("/parts", file.repeat(100) + "--B--\r\n").startsWith("HTTP/1.1 200 "));
        String files = post("/parts", file.repeat(101) + "--B--\r\n");
        assertTrue(files.startsWith("HTTP/1.1 413 ") && files.contains("\"limit\":\"maxFiles\""), files);
        try (Socket socket = connect()) { // rejected because of its Content-Length
            send(socket, "/parts", "multipart/form-data", (64 << 20) + 1, "");
            socket.shutdownOutput();
            String body = answer(socket);
            assertTrue(body.startsWith("HTTP/1.1 413 ") && body.contains("\"limit\":\"maxBodyBytes\""), body);
        }
        context.close();
        start("--spring.webflux.multipart.max-parts=3");
        assertTrue(post("/parts", field.repeat(3) + "--B--\r\n").startsWith("HTTP/1.1 200 "));
        String parts = post("/parts", field.repeat(4) + "--B--\r\n");
        assertTrue(parts.startsWith("HTTP/1.1 413 ") && parts.contains("\"limit\":\"maxParts\""), parts);
    }

    @Test
    void truncatedBody_whenHandlerRejectsFiles_isABadRequest() throws Exception {
        start();
        String whole = form("one", 1000);
        assertTrue(post("/picky", whole).startsWith("HTTP/1.1 500 "));
        String response = post("/picky", whole.substring(0, 400));
        assertTrue(response.startsWith("HTTP/1.1 400 "), response);
        assertTrue(response.contains("\"reason\":\"truncated\""), response);
    }

    @ParameterizedTest
    @CsvSource({"503, memory-budget-bytes=1KB, memoryBudgetBytes", "507, max-spool-bytes=1KB, maxSpoolBytes"})
    void exhaustedResources_areAnsweredWithAProblem(int status, String property, String limit) throws Exception {
        start("--sluice." + property);
        String response = post("/upload", form("one", MIB / 2));
        assertTrue(response.startsWith("HTTP/1.1 " + status + ' '), response);
        assertTrue(response.contains("application/problem+json"), response);
        assertTrue(response.contains("\"limit\":\"" + limit + '"'), response);
    }

    @Test
    void slowController_stopsTheClient() throws Exception {
        start();
        Controller controller = context.getBean(Controller.class);
        int size = 48 * MIB;
        AtomicLong sent = new AtomicLong();
        try (Socket socket = connect()) {
            byte[] body = form("one", size).getBytes(StandardCharsets.ISO_8859_1);
            send(socket, "/slow", "multipart/form-data", body.length, "");
            Thread client = new Thread(() -> {
                try {
                    for (int at = 0, count; at < body.length; at += count) {
                        count = Math.min(64 << 10, body.length - at);
                        socket.getOutputStream().write(body, at, count);
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
            assertEnds("slow " + (size + 3), answer(socket));
            client.join();
        }
    }

    @Test
    void handlerThatCancelsEvents_canStillRespond() throws Exception {
        start();
        String body = form("one", 4 * MIB);
        ByteArrayOutputStream response = new ByteArrayOutputStream();
        try (Socket socket = connect()) {
            Thread client = new Thread(() -> {
                try {
                    send(socket, "/some", "multipart/form-data", body.length(), body);
                } catch (IOException e) {
                    // The server has answered and closed the connection.
                }
            });
            client.start();
            socket.getInputStream().transferTo(response);
            client.join();
        } catch (SocketException e) {
            // The server resets the connection after the response, because it has not read the body.
        }
        assertEnds("some", response.toString(StandardCharsets.UTF_8));
    }

    /** Spring #36262, #28740: the client disconnects while its body is in memory, in a file or in neither. */
    @ParameterizedTest
    @ValueSource(strings = {"/upload", "/parts", "/events", "/exchange"})
    void disconnect_duringUpload_leavesNothing(String path) throws Exception {
        start("--spring.webflux.multipart.max-in-memory-size=1KB");
        String body = form("one", MIB);
        for (int sent : new int[] {0, 60, 200, 5000, 200_000, MIB}) {
            for (int linger : new int[] {-1, 0}) { // -1 closes the connection, 0 resets it
                try (Socket socket = connect()) {
                    send(socket, path, "multipart/form-data", body.length(), body.substring(0, sent));
                    if (linger == 0) {
                        socket.setSoLinger(true, 0);
                    }
                }
            }
        }
        assertNothingIsKept();
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
                // Logs the exception of noAnswerAfterClose if the body fails before the request is cancelled.
                "--logging.level.org.springframework.web.server.adapter=OFF");
        String body = form("one", MIB);
        SpoolDirectory spool = context.getBean(SpoolDirectory.class);
        MemoryBudget memory = context.getBean(MemoryBudget.class);
        boolean files = !path.equals("/events");
        AtomicBoolean closing = new AtomicBoolean();
        context.addApplicationListener(event -> closing.compareAndSet(false, event instanceof ContextClosedEvent));
        try (Socket socket = connect()) {
            send(socket, path, "multipart/form-data", body.length(), body.substring(0, body.length() / 2));
            Eventually.isTrue(() -> files ? spool.files() == 1 : memory.used() > 0, "the form is not received");
            Thread stopping = new Thread(context::close);
            stopping.start();
            if (finished) {
                Eventually.isTrue(closing::get, "the application does not stop");
                socket.getOutputStream().write(body.substring(body.length() / 2).getBytes(StandardCharsets.ISO_8859_1));
                assertEnds(files ? "one f.txt " + MIB : "events " + (MIB + 3), answer(socket));
            }
            stopping.join();
            assertEquals(List.of(), SpooledFiles.below(directory), "files after the application has stopped");
            if (!finished) {
                try {
                    assertEquals("", answer(socket));
                } catch (SocketException e) {
                    // The server resets the connection, because it has not read the body.
                }
            }
        }
        Eventually.isTrue(() -> spool.files() == 0 && memory.used() == 0, "the form is not released");
        // Reactor Netty logs an error itself if its event loops end before its shutdown thread.
        assertFalse(output.getAll().contains("dev.sluice"), output::getAll);
    }

    /**
     * Spring #31217: a disconnect cancels the handler, which does not delete its file. Spring's own reader does not
     * delete it either.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void disconnect_whileHandlerWorks_leavesFileOnlyWithoutSluice(boolean enabled) throws Exception {
        start("--sluice.enabled=" + enabled);
        String body = form("one", MIB);
        Path fileOfHandler;
        try (Socket socket = connect()) {
            send(socket, "/hang", "multipart/form-data", body.length(), body);
            context.getBean(Controller.class).begun.await();
            assertEquals(1, files().size());
            fileOfHandler = files().get(0);
        }
        assertNothingIsKept();
        assertEnds(
                "one f.txt " + MIB,
                post("/upload", body)); // by then, a file of the first request that should be deleted is gone
        Eventually.passes(() -> assertEquals(enabled ? List.of() : List.of(fileOfHandler), files()));
        Files.deleteIfExists(fileOfHandler);
    }

    private List<Path> files() throws IOException {
        return SpooledFiles.below(directory);
    }
}

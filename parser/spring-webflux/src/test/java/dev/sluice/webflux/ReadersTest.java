package dev.sluice.webflux;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Jimfs;
import dev.sluice.form.FormMetrics;
import dev.sluice.form.FormOptions;
import dev.sluice.form.FormSummary;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.testkit.CountingAllocator;
import dev.sluice.testkit.Eventually;
import dev.sluice.testkit.LeakCheck;
import dev.sluice.testkit.TestForm;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Subscription;
import org.springframework.core.ResolvableType;
import org.springframework.core.codec.DecodingException;
import org.springframework.core.io.buffer.CloseableDataBuffer;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferFactory;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.core.io.buffer.DataBufferWrapper;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import org.springframework.core.io.buffer.NettyDataBufferFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.ReactiveHttpInputMessage;
import org.springframework.http.codec.HttpMessageReader;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.http.codec.multipart.DefaultPartHttpMessageReader;
import org.springframework.http.codec.multipart.FilePart;
import org.springframework.http.codec.multipart.FilePartEvent;
import org.springframework.http.codec.multipart.FormFieldPart;
import org.springframework.http.codec.multipart.FormPartEvent;
import org.springframework.http.codec.multipart.Part;
import org.springframework.http.codec.multipart.PartEvent;
import org.springframework.util.MultiValueMap;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.server.ServerWebInputException;
import org.springframework.web.server.UnsupportedMediaTypeStatusException;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.Context;

/**
 * Tests the readers with pooled buffers. All buffers are tracked, and no form may leave a buffer, a file or reserved
 * memory. The numbers in names of tests are issues of the Spring Framework.
 */
@Timeout(300)
@ExtendWith(LeakCheck.class)
class ReadersTest {
    private static final String FORM_DATA = "multipart/form-data; boundary=B";
    private static final ResolvableType PART = ResolvableType.forClass(Part.class);
    private static final ResolvableType EVENT = ResolvableType.forClass(PartEvent.class);
    private static final ResolvableType BY_NAME =
            ResolvableType.forClassWithGenerics(MultiValueMap.class, String.class, Part.class);
    private static final DataBufferFactory POOLED = new NettyDataBufferFactory(PooledByteBufAllocator.DEFAULT);
    private static final Duration LONG = Duration.ofMinutes(2);

    @TempDir
    private Path directory;

    private final MemoryBudget memory = MemoryBudget.of(64 << 20);
    private SpoolDirectory spool;

    @BeforeEach
    void open() throws IOException {
        spool = SpoolDirectory.open(directory);
    }

    @AfterEach
    void assertNothingIsLeft() throws IOException {
        // Workers delete the files.
        Eventually.passes(() -> {
            assertEquals(0, spool.files());
            assertEquals(0, memory.used());
        });
        Schedulers.resetFactory(); // stops all workers
        spool.close();
    }

    /** {@return a bean for forms that do not end by a timeout, unless {@code change} sets one} */
    private SluiceWebFlux sluice(UnaryOperator<FormOptions.Builder> change) {
        FormOptions.Builder options = FormOptions.builder(spool, memory)
                .minRateGrace(Duration.ofHours(1))
                .maxSinkWait(Duration.ofHours(1));
        return SluiceWebFlux.of(change.apply(options).build());
    }

    @SuppressWarnings("unchecked")
    private static <T> HttpMessageReader<T> reader(SluiceWebFlux sluice, ResolvableType type, String contentType) {
        return (HttpMessageReader<T>) reader(sluice, ServerCodecConfigurer.create(), type, contentType);
    }

    private static HttpMessageReader<?> reader(
            SluiceWebFlux sluice, ServerCodecConfigurer codecs, ResolvableType type, String contentType) {
        sluice.configureHttpMessageCodecs(codecs);
        List<HttpMessageReader<?>> readers = codecs.getReaders().stream()
                .filter(reader -> reader.canRead(type, MediaType.parseMediaType(contentType)))
                .toList();
        return readers.get(type == BY_NAME ? readers.size() - 1 : 0); // ServerWebExchange uses the last
    }

    private static <T> Flux<T> read(SluiceWebFlux sluice, ResolvableType type, Flux<DataBuffer> body) {
        return ReadersTest.<T>reader(sluice, type, FORM_DATA).read(type, new Request(FORM_DATA, body), Map.of());
    }

    private Flux<Part> parts(Flux<DataBuffer> body) {
        return read(sluice(o -> o.spillThreshold(100)), PART, body);
    }

    private Mono<MultiValueMap<String, Part>> byName(Flux<DataBuffer> body) {
        return ReadersTest.<MultiValueMap<String, Part>>reader(sluice(o -> o.spillThreshold(100)), BY_NAME, FORM_DATA)
                .readMono(BY_NAME, new Request(FORM_DATA, body), Map.of());
    }

    private Flux<PartEvent> events(Flux<DataBuffer> body) {
        return read(sluice(o -> o), EVENT, body);
    }

    /** {@return {@code body}, read by each reader} */
    private List<Flux<?>> all(Flux<DataBuffer> body) {
        return List.of(parts(body), byName(body).flux(), events(body));
    }

    private static ResponseStatusException rejection(Flux<?> read) {
        return assertThrows(ResponseStatusException.class, () -> read.blockLast(LONG));
    }

    /** A subscriber that requests only what the test requests. */
    private static final class Subscriber<T> extends BaseSubscriber<T> {
        private final Consumer<T> consumer;

        Subscriber(Consumer<T> consumer) {
            this.consumer = consumer;
        }

        @Override
        protected void hookOnSubscribe(Subscription subscription) {}

        @Override
        protected void hookOnNext(T element) {
            consumer.accept(element);
        }
    }

    private record Request(HttpHeaders getHeaders, Flux<DataBuffer> getBody) implements ReactiveHttpInputMessage {
        Request(String contentType, Flux<DataBuffer> body) {
            this(new HttpHeaders(), body);
            getHeaders.add(HttpHeaders.CONTENT_TYPE, contentType);
        }
    }

    private static byte[] form(int size) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        String field = "--B\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\n\u2603\r\n";
        String json =
                "--B\r\nContent-Disposition: form-data; name=\"json\"\r\nContent-Type: application/json\r\n\r\n{}\r\n";
        String file = "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"../a b\"\r\nX-Y: z\r\n\r\n";
        out.writeBytes((field + json + file).getBytes(StandardCharsets.UTF_8));
        out.writeBytes(TestForm.noise(size, size));
        out.writeBytes("\r\n--B--\r\n".getBytes(StandardCharsets.UTF_8));
        return out.toByteArray();
    }

    /** {@return buffers that are allocated on request, so that unrequested ones do not leak} */
    private static Flux<DataBuffer> body(byte[] bytes, int chunk, DataBufferFactory buffers) {
        return Flux.range(0, (bytes.length + chunk - 1) / chunk).map(i -> {
            int size = Math.min(chunk, bytes.length - i * chunk);
            return buffers.allocateBuffer(size).write(bytes, i * chunk, size);
        });
    }

    private static byte[] bytes(Part part) {
        return DataBufferUtils.join(part.content())
                .map(ReadersTest::bytes)
                .defaultIfEmpty(new byte[0])
                .block(LONG);
    }

    private static byte[] bytes(DataBuffer buffer) {
        byte[] bytes = new byte[buffer.readableByteCount()];
        buffer.read(bytes);
        DataBufferUtils.release(buffer);
        return bytes;
    }

    private static void assertWhole(MultiValueMap<String, Part> parts, int size) {
        assertEquals(List.of("title", "json", "file"), List.copyOf(parts.keySet()));
        assertEquals(
                "\u2603",
                assertInstanceOf(FormFieldPart.class, parts.getFirst("title")).value());
        assertEquals("{}", new String(bytes(parts.getFirst("json")), StandardCharsets.UTF_8));
        FilePart file = assertInstanceOf(FilePart.class, parts.getFirst("file"));
        assertEquals("../a b", file.filename());
        assertEquals("z", file.headers().getFirst("x-y"));
        assertEquals(size, bytes(file).length);
        assertArrayEquals(TestForm.noise(size, size), bytes(file), "the second read");
    }

    private static void deleteAll(Iterable<Part> parts) {
        Flux.fromIterable(parts).flatMap(Part::delete).blockLast(LONG);
    }

    @ParameterizedTest
    @CsvSource({"1, true", "7, true", "1000, true", "7, false", "100000, false"})
    void parts_implementSpringsInterfaces(int chunk, boolean pooled) throws IOException {
        DataBufferFactory buffers = pooled ? POOLED : DefaultDataBufferFactory.sharedInstance;
        MultiValueMap<String, Part> parts =
                byName(body(form(3000), chunk, buffers)).block(LONG);
        assertWhole(parts, 3000);
        assertEquals(1, spool.files());

        Path target = Files.writeString(directory.resolve("target"), "was there");
        for (int copy = 0; copy < 2; copy++) {
            ((FilePart) parts.getFirst("file")).transferTo(target).block(LONG);
            assertEquals(3000, Files.size(target));
        }
        assertWhole(parts, 3000);
        for (int call = 0; call < 4; call++) {
            parts.getFirst("title").delete().block(LONG); // only the first call has an effect
        }
        assertEquals(3000, bytes(parts.getFirst("file")).length);
        parts.values().forEach(ReadersTest::deleteAll);
        assertThrows(IllegalStateException.class, () -> bytes(parts.getFirst("file")));
        assertThrows(
                IllegalStateException.class,
                () -> ((FilePart) parts.getFirst("file")).transferTo(target).block(LONG));
        assertEquals(3000, Files.size(target));

        List<Part> one = parts(body(form(10), chunk, buffers)).collectList().block(LONG);
        assertEquals(3, one.size());
        deleteAll(one);
    }

    /** A buffer that is neither Netty's nor Spring's own, such as Jetty's. */
    private static final class ServerBuffer extends DataBufferWrapper implements CloseableDataBuffer {
        ServerBuffer(DataBuffer bytes) {
            super(bytes);
        }

        @Override
        public void close() {
            DataBufferUtils.release(dataBuffer());
        }
    }

    @Test
    void buffers_ofOtherServers_areReleased() {
        MultiValueMap<String, Part> parts =
                byName(body(form(3000), 1000, POOLED).map(ServerBuffer::new)).block(LONG);
        assertWhole(parts, 3000);
        parts.values().forEach(ReadersTest::deleteAll);
    }

    @Test
    void transfer_toMissingDirectory_fails() {
        MultiValueMap<String, Part> parts = byName(body(form(10), 50, POOLED)).block(LONG);
        FilePart file = (FilePart) parts.getFirst("file");
        assertThrows(
                Exception.class,
                () -> file.transferTo(directory.resolve("no/such")).block(LONG));
        parts.values().forEach(ReadersTest::deleteAll);
    }

    @Test
    void transfer_whenDiskIsFull_leavesTheExistingFile() throws IOException {
        Configuration small = Configuration.unix().toBuilder()
                .setMaxSize(100_000)
                .setBlockSize(1000)
                .build();
        MultiValueMap<String, Part> parts =
                byName(body(form(200_000), 1000, POOLED)).block(LONG);
        FilePart file = (FilePart) parts.getFirst("file");
        try (FileSystem disk = Jimfs.newFileSystem(small)) {
            Path target = Files.writeString(
                    Files.createDirectory(disk.getPath("/files")).resolve("target"), "was there");
            RuntimeException failure = assertThrows(
                    RuntimeException.class, () -> file.transferTo(target).block(LONG));
            assertInstanceOf(IOException.class, failure.getCause());
            assertEquals("was there", Files.readString(target));
            try (Stream<Path> files = Files.list(target.getParent())) {
                assertEquals(List.of(target), files.toList());
            }
        }
        parts.values().forEach(ReadersTest::deleteAll);
    }

    @Test
    void transfers_toOneTargetAtOnce_allSucceed() throws IOException {
        MultiValueMap<String, Part> parts =
                byName(body(form(3000), 1000, POOLED)).block(LONG);
        FilePart file = (FilePart) parts.getFirst("file");
        Path target = directory.resolve("target");
        for (int round = 0; round < 100; round++) {
            Flux.range(0, 8).flatMap(transfer -> file.transferTo(target)).blockLast(LONG);
            assertEquals(3000, Files.size(target));
        }
        parts.values().forEach(ReadersTest::deleteAll);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 13, 4096, 100_000})
    void events_implementSpringsInterfaces(int chunk) {
        List<PartEvent> events =
                events(body(form(3000), chunk, POOLED)).collectList().block(LONG);
        FormPartEvent title = assertInstanceOf(FormPartEvent.class, events.get(0));
        assertEquals("title \u2603 true", title.name() + " " + title.value() + " " + title.isLast());
        String json = events.stream()
                .filter(event -> event.name().equals("json"))
                .map(event -> event.content().toString(StandardCharsets.UTF_8))
                .collect(Collectors.joining());
        assertEquals("{}", json);
        List<PartEvent> file =
                events.stream().filter(FilePartEvent.class::isInstance).toList();
        assertEquals("../a b", ((FilePartEvent) file.get(0)).filename());
        assertEquals("z", file.get(0).headers().getFirst("X-Y"));
        assertEquals(
                2,
                events.stream()
                        .filter(event -> event.isLast() && !(event instanceof FormPartEvent))
                        .count());
        assertTrue(file.get(file.size() - 1).isLast());
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        file.forEach(event -> content.writeBytes(bytes(event.content())));
        assertArrayEquals(TestForm.noise(3000, 3000), content.toByteArray());
    }

    @Test
    void events_notRequested_areNotRead() {
        AtomicLong sent = new AtomicLong();
        Flux<DataBuffer> body =
                body(form(1 << 20), 1000, POOLED).doOnNext(buffer -> sent.addAndGet(buffer.readableByteCount()));
        List<PartEvent> seen = new ArrayList<>();
        Subscriber<PartEvent> slow = new Subscriber<>(seen::add);
        events(body).subscribe(slow);
        long ahead = 0;
        for (int wanted = 0; wanted < 100; wanted++) {
            assertEquals(wanted, seen.size());
            ahead = Math.max(ahead, sent.get() - 1000L * wanted);
            slow.request(1);
        }
        assertTrue(ahead <= 528 << 10, ahead + " bytes were read ahead");
        slow.request(Long.MAX_VALUE);
        assertTrue(seen.get(seen.size() - 1).isLast());
        assertTrue(sent.get() > 1 << 20);
    }

    /** The whole body is available at once, so each request for a buffer could run within the previous one. */
    @Test
    void stackDepth_ofLargeBody_isBounded() throws Exception {
        byte[] form = form(0);
        int close = "\r\n--B--\r\n".length();
        Flux<DataBuffer> file =
                Flux.range(0, 8_000).map(i -> DefaultDataBufferFactory.sharedInstance.wrap(new byte[64 << 10]));
        Flux<DataBuffer> body = Flux.concat(
                Flux.just(DefaultDataBufferFactory.sharedInstance.wrap(Arrays.copyOf(form, form.length - close))),
                file,
                Flux.just(DefaultDataBufferFactory.sharedInstance.wrap(
                        Arrays.copyOfRange(form, form.length - close, form.length))));
        AtomicInteger depth = new AtomicInteger();
        Subscriber<PartEvent> late = new Subscriber<>(event -> {
            if (event.isLast()) {
                depth.set(Thread.currentThread().getStackTrace().length);
            }
            DataBufferUtils.release(event.content());
        });
        SluiceWebFlux large = sluice(o -> o.maxBodyBytes(1L << 30).maxPartBytes(1L << 30));
        ReadersTest.<PartEvent>read(large, EVENT, body).subscribe(late);
        late.request(Long.MAX_VALUE);
        assertTrue(depth.get() > 0 && depth.get() < 500, "frames: " + depth);
    }

    /** Body and subscriber run on different threads, and the subscriber requests few events at a time. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3, 256})
    void events_acrossThreads_arriveComplete(int prefetch) {
        for (int round = 0; round < 100; round++) {
            long size = events(body(form(200_000), 700, POOLED).subscribeOn(Schedulers.parallel()))
                    .publishOn(Schedulers.boundedElastic(), prefetch)
                    .filter(FilePartEvent.class::isInstance)
                    .map(event -> bytes(event.content()).length)
                    .reduce(0, Integer::sum)
                    .block(LONG);
            assertEquals(200_000, size);
        }
    }

    private static final List<String> MALFORMED = List.of(
            "--B\r\nContent-Disposition: form-data; name=\"a\"; filename=\"f\"\r\n\r\n" + "x".repeat(5000),
            "--B\r\nContent-Disposition form-data\r\n\r\n" + "x".repeat(5000) + "\r\n--B--",
            "--B\r\nContent-Disposition: form-data; name=\"a\"; filename=\"f\"\r\n\r\n" + "x".repeat(5000)
                    + "\r\n--B\r\nno header\r\n\r\n" + "x".repeat(5000),
            "x".repeat(3000));

    @Test
    void spring33741_malformedBody_leaksNothing() {
        for (String malformed : MALFORMED) {
            for (int chunk : new int[] {1, 100, 10_000}) {
                byte[] bytes = malformed.getBytes(StandardCharsets.UTF_8);
                for (Flux<?> read : all(body(bytes, chunk, POOLED))) {
                    ServerWebInputException rejected =
                            assertThrows(ServerWebInputException.class, () -> read.blockLast(LONG));
                    assertInstanceOf(dev.sluice.MultipartException.class, rejected.getCause());
                }
            }
        }
    }

    /** Fails the body after each chunk. The received bytes are then in memory, in a file or not yet decoded. */
    @Test
    void spring36262And28740_disconnect_leavesNothing() {
        byte[] form = form(3000);
        for (int after = 0; after <= form.length / 100; after++) {
            IOException gone = new IOException("gone");
            Flux<DataBuffer> body = body(form, 100, POOLED).take(after).concatWith(Flux.error(gone));
            for (Flux<?> read : all(body)) {
                RuntimeException seen = assertThrows(RuntimeException.class, () -> read.blockLast(LONG));
                assertEquals(gone, seen.getCause());
            }
        }
    }

    /** Cancels after each chunk of an unfinished body, and while another thread delivers the body. */
    @Test
    void spring36262And28740_cancel_leavesNothing() {
        byte[] form = form(3000);
        for (int after = 0; after <= form.length / 100; after++) {
            Flux<DataBuffer> body = body(form, 100, POOLED).take(after).concatWith(Flux.never());
            for (Flux<?> read : all(body)) {
                read.subscribe().dispose();
            }
        }
        for (int round = 0; round < 300; round++) {
            Flux<DataBuffer> body = body(form, 500, POOLED).subscribeOn(Schedulers.parallel());
            for (Flux<?> read :
                    List.of(parts(body), byName(body).flux(), events(body).publishOn(Schedulers.single(), 1))) {
                Disposable.Composite request = Disposables.composite();
                Disposable subscribed = read.contextWrite(Context.of(SluiceWebFlux.class, request))
                        .subscribe();
                Mono.fromRunnable(() -> {
                            subscribed.dispose();
                            request.dispose();
                        })
                        .delaySubscription(Duration.ofNanos(round * 3000L))
                        .block(LONG);
            }
        }
    }

    /**
     * Filters of the application collect buffers and move them to another thread. A cancel or an error discards the
     * buffers in their queues. One filter retains all buffers that pass it.
     *
     * @param fails whether the body fails; otherwise the subscriber cancels
     * @param releasesDiscarded whether a downstream operator also releases discarded buffers, as Spring's writers do
     */
    @ParameterizedTest
    @CsvSource({"false, false", "false, true", "true, false", "true, true"})
    void buffers_queuedUpstream_areReleasedOnce(boolean fails, boolean releasesDiscarded) {
        for (ResolvableType type : List.of(PART, BY_NAME, EVENT)) {
            Queue<Runnable> thread = new ArrayDeque<>();
            Queue<DataBuffer> kept = new ArrayDeque<>();
            Disposable.Swap reading = Disposables.swap();
            CountingAllocator buffers = new CountingAllocator();
            Flux<DataBuffer> body = body(form(3000), 100, new NettyDataBufferFactory(buffers))
                    .doOnNext(buffer -> kept.add(DataBufferUtils.retain(buffer)))
                    .buffer(3)
                    .concatMapIterable(buffered -> buffered)
                    .concatWith(fails ? Flux.error(new IOException("gone")) : Flux.never())
                    .publishOn(Schedulers.fromExecutor(thread::add), false, 256)
                    .index((passed, buffer) -> {
                        if (passed == 2) {
                            reading.dispose();
                        }
                        return buffer;
                    });
            Flux<?> read = read(sluice(o -> o), type, body);
            reading.update((releasesDiscarded ? read.doOnDiscard(DataBuffer.class, DataBufferUtils::release) : read)
                    .onErrorComplete()
                    .subscribe());
            run(thread);
            assertEquals(33, kept.size());
            // Workers release the buffers.
            Eventually.passes(() -> assertEquals(kept.size(), references(kept), type::toString));
            kept.forEach(DataBufferUtils::release);
            assertEquals(List.of(), buffers.unreleased());
        }
    }

    /** {@return the tasks submitted to Reactor's workers from now on, for the test to run} */
    private static Queue<Runnable> captureWorkers() {
        Queue<Runnable> tasks = new ArrayDeque<>();
        Schedulers.setFactory(new Schedulers.Factory() {
            @Override
            public Scheduler newBoundedElastic(int threads, int queued, ThreadFactory factory, int seconds) {
                return Schedulers.fromExecutor(tasks::add);
            }
        });
        return tasks;
    }

    /** An event loop may discard parts when a client disconnects. It must not wait for the disk. */
    @Test
    void files_ofDiscardedParts_areDeletedByWorkers() {
        Queue<Runnable> workers = captureWorkers();
        Subscriber<Part> one = new Subscriber<>(part -> part.delete().subscribe());
        parts(body(form(3000), 100, POOLED)).subscribe(one);
        one.request(1);
        run(workers);
        one.cancel();
        assertEquals(1, spool.files());
        run(workers);
        assertEquals(0, spool.files());
    }

    @Test
    void files_atTheEndOfTheRequest_areDeletedByWorkers() {
        Queue<Runnable> workers = captureWorkers();
        Disposable.Composite request = Disposables.composite();
        byName(body(form(3000), 100, POOLED))
                .contextWrite(Context.of(SluiceWebFlux.class, request))
                .subscribe();
        run(workers);
        request.dispose();
        assertEquals(1, spool.files());
        run(workers);
        assertEquals(0, spool.files());
    }

    private static int references(Queue<DataBuffer> buffers) {
        return buffers.stream()
                .mapToInt(buffer -> NettyDataBufferFactory.toByteBuf(buffer).refCnt())
                .sum();
    }

    /**
     * A reader is cancelled as soon as it is subscribed if another source of a {@code zip} has failed or the request
     * has ended.
     */
    @Test
    void cancel_beforeFirstByte_endsTheForm() {
        AtomicLong live = new AtomicLong();
        FormMetrics metrics = new FormMetrics() {
            @Override
            public void formStarted() {
                live.incrementAndGet();
            }

            @Override
            public void formEnded(FormSummary summary) {
                live.decrementAndGet();
            }
        };
        SluiceWebFlux counted = sluice(o -> o.metrics(metrics));
        for (ResolvableType type : List.of(PART, BY_NAME, EVENT)) {
            Flux<?> read = read(counted, type, Flux.never());
            assertThrows(
                    IllegalStateException.class,
                    () -> Mono.zip(Mono.error(new IllegalStateException("not allowed")), read.collectList())
                            .block(LONG));
            Disposable.Composite ended = Disposables.composite();
            ended.dispose();
            assertThrows(
                    CancellationException.class,
                    () -> read.contextWrite(Context.of(SluiceWebFlux.class, ended))
                            .blockLast(LONG));
        }
        Eventually.passes(() -> assertEquals(0, live.get()));
    }

    @Test
    void fieldText_isChargedUntilItsEvent() {
        String field = "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n" + "x".repeat(100_000);
        String next = "\r\n--B\r\nContent-Disposition: form-data; name=\"b\"\r\n\r\n";
        for (boolean complete : new boolean[] {false, true}) {
            byte[] start = (complete ? field + next : field).getBytes(StandardCharsets.UTF_8);
            Disposable reading =
                    events(body(start, 1000, POOLED).concatWith(Flux.never())).subscribe();
            assertEquals(complete, memory.used() < 90_000, () -> "charged: " + memory.used());
            reading.dispose();
            assertEquals(0, memory.used());
        }
    }

    /**
     * In Spring, the state of a part changed while a file was opened, and the next bytes were handled in the wrong
     * state.
     */
    @Test
    void spring36694_forms_aroundTheThreshold_areComplete() {
        Random random = new Random(36694);
        List<Mono<Integer>> all = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            int size = random.nextInt(2000);
            int chunk = 1 + random.nextInt(300);
            all.add(byName(body(form(size), chunk, POOLED).subscribeOn(Schedulers.parallel()))
                    .publishOn(Schedulers.boundedElastic())
                    .map(parts -> {
                        assertWhole(parts, size);
                        parts.values().forEach(ReadersTest::deleteAll);
                        return 1;
                    }));
        }
        assertEquals(300, Flux.fromIterable(all).flatMap(one -> one, 8).count().block(LONG));
    }

    private static void run(Queue<Runnable> tasks) {
        for (Runnable task; (task = tasks.poll()) != null; ) {
            task.run();
        }
    }

    /** Discards an event, a part or a map of parts. */
    private static void discard(Object element) {
        if (element instanceof PartEvent event) {
            DataBufferUtils.release(event.content());
        } else if (element instanceof Part part) {
            part.delete().subscribe();
        } else {
            ((MultiValueMap<?, ?>) element)
                    .values().stream().flatMap(List::stream).forEach(ReadersTest::discard);
        }
    }

    @Test
    void otherBody_isRejectedWithAnExceptionOfWebFlux() {
        String mixed = "multipart/mixed; boundary=B";
        SluiceWebFlux forms = sluice(o -> o);
        for (ResolvableType type : List.of(PART, BY_NAME, EVENT)) {
            UnsupportedMediaTypeStatusException other = assertThrows(
                    UnsupportedMediaTypeStatusException.class,
                    () -> reader(forms, type, mixed)
                            .read(type, new Request(mixed, body(form(2), 100, POOLED)), Map.of())
                            .blockLast(LONG));
            assertEquals(other.getReason(), other.getBody().getDetail());
        }
        assertThrows(
                UnsupportedOperationException.class,
                () -> reader(forms, PART, FORM_DATA)
                        .readMono(PART, new Request(FORM_DATA, Flux.empty()), Map.of())
                        .block(LONG));
    }

    @Test
    void onlyForms_otherBodies_areReadBySpringWithItsLimits() {
        String mixed = "multipart/mixed; boundary=B";
        SluiceWebFlux onlyForms =
                SluiceWebFlux.onlyForms(FormOptions.builder(spool, memory).build());
        for (int maxParts = 2; maxParts <= 3; maxParts++) {
            int limit = maxParts;
            ServerCodecConfigurer codecs = ServerCodecConfigurer.create();
            codecs.defaultCodecs().configureDefaultCodec(codec -> {
                if (codec instanceof DefaultPartHttpMessageReader parts) {
                    parts.setMaxParts(limit);
                }
            });
            Mono<?> read = reader(onlyForms, codecs, BY_NAME, mixed)
                    .readMono(
                            BY_NAME,
                            new Request(mixed, body(form(2), 100, DefaultDataBufferFactory.sharedInstance)),
                            Map.of());
            if (limit < 3) {
                assertThrows(DecodingException.class, () -> read.block(LONG));
            } else {
                String parts = String.valueOf(read.block(LONG));
                assertTrue(parts.contains("DefaultFilePart"), parts);
            }
        }
    }

    /** The field has three bytes, in one buffer or in three. The readers of parts read its text after the file has arrived. */
    @ParameterizedTest
    @ValueSource(ints = {1, 4096})
    void field_tooLarge_isRejected(int chunk) {
        SluiceWebFlux small = sluice(o -> o.maxFieldBytes(2));
        for (ResolvableType type : List.of(PART, BY_NAME, EVENT)) {
            ResponseStatusException tooLarge = rejection(read(small, type, body(form(2000), chunk, POOLED)));
            assertEquals(413, tooLarge.getStatusCode().value());
            assertEquals("maxFieldBytes", tooLarge.getBody().getProperties().get("limit"));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4096})
    void field_ofTheMaximumSize_isAccepted(int chunk) {
        SluiceWebFlux exact = sluice(o -> o.maxFieldBytes(3));
        for (ResolvableType type : List.of(BY_NAME, EVENT)) {
            read(exact, type, body(form(0), chunk, POOLED))
                    .doOnNext(ReadersTest::discard)
                    .blockLast(LONG);
        }
    }

    @Test
    void client_orSubscriber_tooSlow_isRejected() {
        SluiceWebFlux strict =
                sluice(o -> o.minRateGrace(Duration.ofMillis(100)).maxSinkWait(Duration.ofMillis(100)));
        for (ResolvableType type : List.of(PART, EVENT)) {
            assertEquals(
                    408,
                    rejection(read(strict, type, Flux.never())).getStatusCode().value());
        }
        Flux<?> stalled = read(strict, EVENT, body(form(3000), 1000, POOLED))
                .limitRate(1)
                .concatMap(event -> Mono.delay(Duration.ofMillis(500)), 1);
        assertEquals(503, rejection(stalled).getStatusCode().value());
    }
}

package dev.sluice.samples.upload.soak;

import dev.sluice.samples.upload.ServerConfig;
import dev.sluice.samples.upload.UploadServer;
import dev.sluice.samples.upload.clients.ServerResponse;
import dev.sluice.samples.upload.soak.Trend.Point;
import dev.sluice.testkit.SpooledFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/**
 * Uploads of all {@link RequestKind kinds} to one process, in rounds. The resources in use are measured after each round, when
 * no upload is active and the same number of connections is open.
 *
 * @param uploads the total number of uploads
 * @param connections the number of concurrent connections
 * @param rounds the number of rounds after the warm-up, 2 or more
 * @param timeLimit the time after which no further round starts; at least two rounds always run
 */
record UploadSoak(long uploads, int connections, int rounds, Duration timeLimit) {
    /** The rounds before the first point, in which classes are loaded, code is compiled and pools are filled. */
    private static final int WARM_UP = 4;

    private static final long SHORT = 100_000;
    private static final long PATIENCE_SECONDS = 180;

    /**
     * A small heap of fixed size, which is resident from the start, and bounds for the JVM's own memory, so that growth of resident memory
     * indicates a leak.
     */
    private static final List<String> OPTIONS = List.of(
            "-Xms128m",
            "-Xmx128m",
            "-XX:+AlwaysPreTouch",
            "-XX:MaxDirectMemorySize=64m",
            "-XX:ReservedCodeCacheSize=64m",
            "-XX:MaxMetaspaceSize=64m",
            "-XX:+UseSerialGC",
            "-XX:+ExitOnOutOfMemoryError",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=off");

    /**
     * The result of a soak.
     *
     * @param faults the unexpected responses
     */
    record Result(
            long uploads,
            int connections,
            long opened,
            double seconds,
            Map<RequestKind, Long> kinds,
            List<Trend> trends,
            List<String> faults) {
        boolean isGood() {
            return faults.isEmpty() && trends.stream().allMatch(Trend::isFlat);
        }
    }

    private record Sample(long uploads, Vitals vitals, long resident, long files) {}

    /** Runs in the server process; its argument is a directory. */
    public static void main(String[] arguments) throws IOException {
        ServerConfig config = ServerConfig.of(Path.of(arguments[0]))
                .withMaxBodyBytes(RequestKind.MAX_BODY_BYTES)
                .withKeepFreeBytes(0);
        try (UploadServer server = UploadServer.start(config)) {
            ServerProcess.answer(server.port(), () -> Vitals.now(0));
        }
    }

    /** {@return the result of a soak of a new server that stores uploads in the directory} */
    Result run(Path directory) throws IOException, InterruptedException {
        List<Sample> samples = new ArrayList<>();
        List<Sender> senders = new ArrayList<>();
        long start = System.nanoTime();
        long sent = 0;
        ExecutorService threads = Executors.newFixedThreadPool(connections);
        Path errors = Files.createTempFile("sluice-soak", ".err");
        try (ServerProcess host = new ServerProcess(errors, UploadSoak.class, options(), directory)) {
            try (Client observer = new Client(host.port())) {
                for (int i = 0; i < connections; i++) {
                    senders.add(new Sender(i, new Client(host.port()), directory));
                }
                for (int round = 1; round <= WARM_UP + rounds; round++) {
                    if (round > WARM_UP + 2 && System.nanoTime() - start > timeLimit.toNanos()) {
                        break;
                    }
                    long target = uploads * round / (WARM_UP + rounds);
                    send(threads, senders, target - sent);
                    sent = target;
                    samples.add(new Sample(
                            sent,
                            settled(host, observer, directory),
                            host.residentBytes(),
                            files(directory).size()));
                }
                for (Sender sender : senders) {
                    sender.client.close();
                }
            }
            host.end();
            if (files(directory).stream().anyMatch(Files::isDirectory)) {
                throw new IOException("the server left " + files(directory));
            }
        } finally {
            threads.shutdownNow();
            Files.delete(errors);
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        return result(sent, seconds, senders, samples.subList(WARM_UP - 1, samples.size()));
    }

    /** In a short run the memory of the JIT compiler is still growing and would look like a leak. */
    private List<String> options() {
        List<String> options = new ArrayList<>(OPTIONS);
        if (uploads < SHORT) {
            options.add("-XX:TieredStopAtLevel=1");
        }
        return options;
    }

    /** {@return the resources in use after a garbage collection, once no upload is active} */
    private static Vitals settled(ServerProcess host, Client client, Path directory) throws IOException {
        Path spool = directory.resolve(".incoming");
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        String metrics = client.metrics();
        while (!metrics.contains("\nsluice_uploads_active 0.0\n")
                || !metrics.contains("\nsluice_bytes_in_flight 0.0\n")
                || !SpooledFiles.below(spool).isEmpty()) {
            if (System.nanoTime() - end > 0) {
                throw new IOException("uploads are still active: " + SpooledFiles.below(spool) + metrics);
            }
            metrics = client.metrics();
        }
        return host.collect();
    }

    private static List<Path> files(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.toList();
        }
    }

    private static void send(ExecutorService threads, List<Sender> senders, long count)
            throws IOException, InterruptedException {
        List<Future<?>> work = new ArrayList<>();
        for (int i = 0; i < senders.size(); i++) {
            Sender sender = senders.get(i);
            long share = count * (i + 1) / senders.size() - count * i / senders.size();
            work.add(threads.submit(() -> {
                sender.send(share);
                return null;
            }));
        }
        for (Future<?> each : work) {
            try {
                each.get();
            } catch (ExecutionException e) {
                throw new IOException("a client failed", e.getCause());
            }
        }
    }

    private Result result(long sent, double seconds, List<Sender> senders, List<Sample> samples) {
        Map<RequestKind, Long> kinds = new EnumMap<>(RequestKind.class);
        List<String> faults = new ArrayList<>();
        long opened = 0;
        for (Sender sender : senders) {
            sender.kinds.forEach((kind, count) -> kinds.merge(kind, count, Long::sum));
            faults.addAll(sender.faults);
            opened += sender.client.connections();
        }
        List<Trend> trends = List.of(
                kib(
                        "heap after collection, without the pool, KiB",
                        samples,
                        s -> s.vitals().heap(),
                        1024,
                        256),
                kib("heap of the pool, KiB", samples, s -> s.vitals().pool(), 8192, 256),
                kib("direct memory, KiB", samples, s -> s.vitals().direct(), 4096, 256),
                trend("descriptors", samples, s -> s.vitals().descriptors(), 2, 0.5),
                trend("threads", samples, s -> s.vitals().threads(), 3, 0.5),
                trend("files", samples, Sample::files, 0, 0),
                kib("metaspace and compiled code, KiB", samples, s -> s.vitals().ownMemory(), 8192, 256),
                // The whole heap is resident from the start. A leak of 32 bytes per upload, the smallest allocation,
                // exceeds the floor after half a million uploads.
                kib("resident memory, KiB", samples, Sample::resident, 16 << 10, 1024));
        return new Result(sent, connections, opened, seconds, kinds, trends, faults);
    }

    private static Trend kib(
            String what, List<Sample> samples, ToDoubleFunction<Sample> bytes, double floor, double rate) {
        return trend(what, samples, sample -> bytes.applyAsDouble(sample) / 1024, floor, rate);
    }

    private static Trend trend(
            String what, List<Sample> samples, ToDoubleFunction<Sample> figure, double floor, double rate) {
        List<Point> points = samples.stream()
                .map(sample -> new Point(sample.uploads(), figure.applyAsDouble(sample)))
                .toList();
        return Trend.of(what, points, floor, rate);
    }

    /** A client that sends random kinds of requests and deletes its stored files. Confined to one thread. */
    private static final class Sender {
        private static final int MOST_FAULTS = 10;
        private static final String STORED = "\"storedAs\":\"";

        private final int number;
        private final Client client;
        private final Path directory;
        private final SplittableRandom random;
        private final Map<RequestKind, Long> kinds = new EnumMap<>(RequestKind.class);
        private final List<String> faults = new ArrayList<>();
        private long sent;

        Sender(int number, Client client, Path directory) {
            this.number = number;
            this.client = client;
            this.directory = directory;
            this.random = new SplittableRandom(number);
        }

        void send(long count) throws IOException {
            for (long i = 0; i < count; i++) {
                sendOne();
            }
            client.metrics(); // replaces a lost connection, so that the same number is open after each round
        }

        private void sendOne() throws IOException {
            RequestKind kind = RequestKind.draw(random);
            kinds.merge(kind, 1L, Long::sum);
            byte[] request = kind.request("c" + number + "-" + sent++ + ".bin", random);
            if (kind.leaves()) {
                client.abort(request, 1 + random.nextInt(request.length - 1), kind == RequestKind.RESET_WITHIN);
                return;
            }
            ServerResponse response = client.exchange(request);
            if (response.status() != kind.status() && faults.size() < MOST_FAULTS) {
                faults.add(kind + ": " + response);
            }
            fetch(response.text());
        }

        private void fetch(String body) throws IOException {
            for (int at = body.indexOf(STORED); at >= 0; at = body.indexOf(STORED, at)) {
                at += STORED.length();
                Files.delete(directory.resolve(body.substring(at, body.indexOf('"', at))));
            }
        }
    }
}

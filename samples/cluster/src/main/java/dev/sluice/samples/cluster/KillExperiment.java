package dev.sluice.samples.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.form.MemoryBudget;
import dev.sluice.s3.ObjectStore;
import dev.sluice.s3.S3ObjectStore;
import dev.sluice.s3.S3Sinks;
import dev.sluice.samples.report.Digest;
import dev.sluice.testkit.Seaweed;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;

/** An experiment that sends forms to a cluster while killing nodes, and then checks the objects in the store. */
final class KillExperiment {
    /** The prefix that the nodes use. A sweep with a different prefix would not find their objects. */
    private static final String PREFIX = "uploads/";

    /**
     * The acceptable verdicts. A response can be lost after the form is complete, so they include complete forms
     * without a response or with an error response.
     */
    private static final List<String> GOOD = List.of(
            "answered, whole", "not answered, absent", "not answered, whole", "rejected, absent", "rejected, whole");

    private static final int MIB = 1 << 20;
    private static final int AT_A_TIME = 8;

    /** Time for a killed node to restart before the next kill. Without any node, forms would only be rejected. */
    private static final long BETWEEN_MILLIS = 2500;

    /**
     * The maximum time to wait before a kill until several forms are being published. It is long because a busy machine
     * restarts nodes slowly.
     */
    private static final long WAIT_MILLIS = 30_000;

    /** The wait of a client before its next form, unless the last response had the status 200. */
    private static final long REFUSED_MILLIS = 200;

    private static final long BETWEEN_SWEEPS_MILLIS = 5000;

    /**
     * The result of an experiment.
     *
     * @param verdicts the number of forms with each verdict, such as {@code answered, whole}
     * @param uploads the number of unfinished uploads in the store
     * @param strays the number of files in the store that belong to no form
     * @param kills the number of killed nodes
     * @param inPublication the number of kills after which a form whose whole body had been sent got no 200
     * @param sweeps the number of successful sweeps, by two processes at a time, while the forms were sent
     * @param bytes the size of all bodies
     * @param time the time until the last response or the end of the last sweep
     */
    record Result(
            Map<String, Integer> verdicts,
            int uploads,
            int strays,
            int kills,
            int inPublication,
            int sweeps,
            S3Sinks.Swept swept,
            long bytes,
            Duration time) {
        boolean isGood() {
            return uploads == 0 && strays == 0 && GOOD.containsAll(verdicts.keySet());
        }
    }

    /** A file of a form: its unique name and its SHA-256. */
    record Sent(String name, String sha256) {}

    /**
     * A form: its files, the status of its response or {@code no response}, and the keys in the response. A status other than 200 comes
     * from a node that could not store the form, or from the proxy if it found no node.
     *
     * @param sentNanos when all of the body had been sent, or {@code Long.MAX_VALUE}
     * @param endNanos when the response or the failure arrived
     */
    record Form(int number, List<Sent> files, String outcome, List<String> keys, long sentNanos, long endNanos) {}

    /** A body that reports when all of it has been sent. */
    private final class Body extends ByteArrayInputStream {
        private volatile long sentNanos = Long.MAX_VALUE;

        Body(byte[] bytes) {
            super(bytes);
        }

        @Override
        public synchronized int read(byte[] into, int offset, int length) {
            int count = super.read(into, offset, length);
            if (available() == 0 && sentNanos == Long.MAX_VALUE) {
                sentNanos = System.nanoTime();
                publishing.incrementAndGet();
            }
            return count;
        }
    }

    /** A file that the record of a form lists: its key, and the SHA-256 of its object, or {@code missing}. */
    record Found(String key, String sha256) {}

    /** Identifies the objects of this run, because the store may contain objects of earlier runs. */
    private final String run = UUID.randomUUID().toString();

    private final Path directory;
    private final int forms;
    private final int kills;
    private final PrintWriter out;
    private final long seed;
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicInteger done = new AtomicInteger();

    /** The number of forms whose response had the status 200. */
    private final AtomicInteger stored = new AtomicInteger();

    /** The number of forms whose body was sent and whose response is pending. */
    private final AtomicInteger publishing = new AtomicInteger();

    private final AtomicLong sentBytes = new AtomicLong();
    private final List<Long> killNanos = new CopyOnWriteArrayList<>();
    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    /**
     * @param directory the directory of the running cluster
     * @param forms the number of forms to send; more are sent until the last node is killed
     * @param kills the number of node kills; if it is more than 0, a volume server is killed as well
     */
    KillExperiment(Path directory, int forms, int kills, long seed, PrintWriter out) {
        this.directory = directory;
        this.forms = forms;
        this.kills = kills;
        this.seed = seed;
        this.out = out;
    }

    Result run() throws IOException, InterruptedException, ExecutionException {
        long since = System.nanoTime();
        ExecutorService clients = Executors.newFixedThreadPool(AT_A_TIME + 2);
        List<Form> sent = new ArrayList<>();
        int killed;
        int sweeps;
        try {
            List<URI> pages = Cluster.ClusterFile.of(directory).pages();
            Future<Integer> killing = clients.submit(this::killAll);
            Future<Integer> sweeping = clients.submit(() -> sweepUntil(killing));
            List<Future<List<Form>>> sending = new ArrayList<>();
            for (int i = 0; i < AT_A_TIME; i++) {
                sending.add(clients.submit(() -> sendUntil(killing, pages)));
            }
            for (Future<List<Form>> some : sending) {
                sent.addAll(some.get());
            }
            killed = killing.get();
            sweeps = sweeping.get();
        } finally {
            clients.shutdownNow();
        }
        sent.sort(Comparator.comparingInt(Form::number));
        Duration time = Duration.ofNanos(System.nanoTime() - since);
        return judge(sent, killed, sweeps, time);
    }

    private List<Form> sendUntil(Future<?> end, List<URI> pages) throws IOException, InterruptedException {
        List<Form> sent = new ArrayList<>();
        for (int number = next.getAndIncrement(); number < forms || !end.isDone(); number = next.getAndIncrement()) {
            sent.add(send(number, pages.get(number % pages.size()).resolve("upload")));
        }
        return sent;
    }

    /**
     * Sweeps repeatedly with two processes at once. If faketime is installed, the clock of one of them is two days
     * ahead.
     */
    private int sweepUntil(Future<?> end) throws IOException, InterruptedException, ExecutionException {
        Optional<String> faketime = Seaweed.program("SLUICE_FAKETIME", "faketime");
        int sweeps = 0;
        while (!end.isDone()) {
            Process one = sweep(List.of());
            Process other =
                    sweep(faketime.map(program -> List.of(program, "-f", "+2d")).orElse(List.of()));
            for (Process each : List.of(one, other)) {
                sweeps += each.waitFor() == 0 ? 1 : 0;
                if (each.exitValue() != 0) {
                    List<String> log = Files.readAllLines(directory.resolve("sweep.log"));
                    out.println("a sweep failed: " + log.get(log.size() - 1));
                }
            }
            try {
                end.get(BETWEEN_SWEEPS_MILLIS, TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                // nodes are still being killed
            }
        }
        return sweeps;
    }

    private Process sweep(List<String> start) throws IOException {
        List<String> command = new ArrayList<>(start);
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                "dev.sluice.samples.upload.Main",
                "sweep",
                "--s3=" + Cluster.ClusterFile.of(directory).store(),
                "--bucket=" + Cluster.BUCKET));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment()
                .putAll(Map.of(
                        "AWS_ACCESS_KEY_ID",
                        Seaweed.USER,
                        "AWS_SECRET_ACCESS_KEY",
                        Seaweed.SECRET,
                        "FAKETIME_DONT_FAKE_MONOTONIC",
                        "1"));
        builder.redirectOutput(
                ProcessBuilder.Redirect.appendTo(directory.resolve("sweep.log").toFile()));
        return builder.start();
    }

    private Form send(int number, URI page) throws IOException, InterruptedException {
        Random random = new Random(seed + number);
        List<Sent> files = new ArrayList<>();
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        for (int i = 1 + random.nextInt(3); i > 0; i--) {
            byte[] content = new byte[size(random)];
            random.nextBytes(content);
            String name = run + "-" + number + '-' + i;
            files.add(new Sent(name, sha256(content)));
            body.writeBytes(("--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"" + name + "\"\r\n\r\n")
                    .getBytes(StandardCharsets.UTF_8));
            body.writeBytes(content);
            body.writeBytes("\r\n".getBytes(StandardCharsets.UTF_8));
        }
        body.writeBytes("--b--\r\n".getBytes(StandardCharsets.UTF_8));
        sentBytes.addAndGet(body.size());
        Body bytes = new Body(body.toByteArray());
        HttpRequest request = HttpRequest.newBuilder(page)
                .header("Content-Type", "multipart/form-data; boundary=b")
                .timeout(Duration.ofMinutes(2))
                .POST(HttpRequest.BodyPublishers.fromPublisher(
                        HttpRequest.BodyPublishers.ofInputStream(() -> bytes), body.size()))
                .build();
        List<String> keys = new ArrayList<>();
        String outcome;
        try {
            HttpResponse<byte[]> response = http.send(request, HttpResponse.BodyHandlers.ofByteArray());
            outcome = String.valueOf(response.statusCode());
            if (outcome.equals("200")) {
                for (JsonNode part :
                        new ObjectMapper().readTree(response.body()).get("parts")) {
                    keys.add(part.get("storedAs").asText());
                }
            }
        } catch (IOException e) {
            outcome = "no response";
        }
        if (bytes.sentNanos < Long.MAX_VALUE) {
            publishing.decrementAndGet();
        }
        long endNanos = System.nanoTime();
        done.incrementAndGet();
        if (outcome.equals("200")) {
            stored.incrementAndGet();
        } else {
            TimeUnit.MILLISECONDS.sleep(REFUSED_MILLIS);
        }
        return new Form(number, files, outcome, keys, bytes.sentNanos, endNanos);
    }

    /** {@return a random size: often small, sometimes large enough for an upload of several pieces} */
    private static int size(Random random) {
        int kind = random.nextInt(100);
        int most = kind < 35 ? 2000 : kind < 65 ? 300_000 : kind < 90 ? 3 * MIB : 20 * MIB;
        return random.nextInt(most);
    }

    /**
     * {@return the number of killed nodes} Kills nodes while forms are being sent, most of them while several forms are
     * being published, and a volume server half-way.
     */
    private int killAll() throws IOException, InterruptedException {
        Random random = new Random(seed);
        int killed = 0;
        while (killed < kills) {
            TimeUnit.MILLISECONDS.sleep(BETWEEN_MILLIS + random.nextInt(200));
            long since = System.nanoTime();
            int before = stored.get();
            while ((publishing.get() < AT_A_TIME / 2 || stored.get() == before)
                    && System.nanoTime() - since < TimeUnit.MILLISECONDS.toNanos(WAIT_MILLIS)) {
                TimeUnit.MILLISECONDS.sleep(1);
            }
            if (killed == kills / 2) {
                kill("volume", random);
            }
            killed += kill("node", random);
        }
        return killed;
    }

    /** {@return the number of kills after which a form whose whole body had been sent got no 200} */
    private int inPublication(List<Form> sent) {
        Set<Long> hit = new TreeSet<>();
        for (Form form : sent) {
            killNanos.stream()
                    .filter(killed -> killed < form.endNanos)
                    .max(Comparator.naturalOrder())
                    .filter(killed -> killed > form.sentNanos && !form.outcome.equals("200"))
                    .ifPresent(hit::add);
        }
        return hit.size();
    }

    private int kill(String kind, Random random) throws IOException {
        List<Map.Entry<String, Cluster.Running>> all = Cluster.ClusterFile.of(directory).processes().entrySet().stream()
                .filter(process -> process.getKey().startsWith(kind))
                .toList();
        Map.Entry<String, Cluster.Running> process = all.get(random.nextInt(all.size()));
        if (kind.equals("node")) {
            killNanos.add(System.nanoTime());
        }
        boolean alive =
                process.getValue().handle().map(ProcessHandle::destroyForcibly).orElse(false);
        out.println((alive ? "killed " : "already dead: ") + process.getKey() + " after " + done.get() + " forms");
        out.flush();
        return alive ? 1 : 0;
    }

    private Result judge(List<Form> sent, int killed, int sweeps, Duration time)
            throws IOException, InterruptedException {
        URI address = Cluster.ClusterFile.of(directory).store();
        if (killed > 0) {
            TimeUnit.SECONDS.sleep(3); // lets the surviving nodes finish
        }
        try (S3AsyncClient client = Cluster.client(address);
                ObjectStore store =
                        S3ObjectStore.builder(Cluster.BUCKET).client(client).build()) {
            // No upload is running, so every unfinished form is left over.
            S3Sinks sinks = S3Sinks.builder(store, MemoryBudget.unlimited())
                    .prefix(PREFIX)
                    .maxAge(Duration.ofNanos(1))
                    .build();
            CompletableFuture<S3Sinks.Swept> other = sinks.sweep(); // two at once
            S3Sinks.Swept swept = sinks.sweep()
                    .thenCombine(
                            other,
                            (one, two) -> new S3Sinks.Swept(
                                    one.forms() + two.forms(),
                                    one.uploads() + two.uploads(),
                                    one.objects() + two.objects()))
                    .join();
            Set<String> keys = new TreeSet<>();
            client.listObjectsV2Paginator(
                            request -> request.bucket(Cluster.BUCKET).prefix(PREFIX))
                    .contents()
                    .subscribe(object -> keys.add(object.key()))
                    .join();
            Map<String, Found> found = new HashMap<>();
            for (String key : keys) {
                if (key.endsWith("/form.json")) {
                    found.putAll(files(client, key));
                }
            }
            found.values().forEach(file -> keys.remove(file.key()));
            keys.removeIf(key -> key.endsWith("/form.json") || key.startsWith(PREFIX + ".open/"));
            keys.forEach(key -> out.println("no form has the file " + key));
            int uploads = client.listMultipartUploads(request -> request.bucket(Cluster.BUCKET))
                    .join()
                    .uploads()
                    .size();
            Map<String, Integer> verdicts = new TreeMap<>();
            for (int i = 0; i < sent.size(); i++) {
                String verdict = verdict(sent.get(i), found);
                verdicts.merge(verdict, 1, Integer::sum);
                if (!verdict.equals(GOOD.get(0))) {
                    out.println(
                            "form " + sent.get(i).number() + ": " + sent.get(i).outcome() + ", " + verdict);
                }
            }
            return new Result(
                    verdicts, uploads, keys.size(), killed, inPublication(sent), sweeps, swept, sentBytes.get(), time);
        }
    }

    static String verdict(Form form, Map<String, Found> found) {
        long there = form.files().stream()
                .filter(file -> found.containsKey(file.name()))
                .count();
        boolean whole = form.files().stream().allMatch(file -> {
            Found object = found.get(file.name());
            return object != null
                    && object.sha256().equals(file.sha256())
                    && (form.keys().isEmpty() || form.keys().contains(object.key()));
        });
        String outcome = form.outcome().equals("200")
                ? "answered, "
                : form.outcome().equals("no response") ? "not answered, " : "rejected, ";
        return outcome + (there == 0 ? "absent" : whole ? "whole" : "in part");
    }

    /** {@return the files of a form by their names; empty unless its {@code form.json} is intact and says {@code committed}} */
    static Map<String, Found> files(S3AsyncClient client, String key) throws IOException {
        byte[] json = read(client, key);
        JsonNode record = new ObjectMapper().readTree(json);
        String sum = record.path("sha256").asText();
        int end = json.length - ",\"sha256\":\"\"}".length() - sum.length();
        boolean isIntact = end > 0 && sha256(Arrays.copyOf(json, end)).equals(sum);
        Map<String, Found> files = new HashMap<>();
        if (isIntact && record.path("state").asText().equals("committed")) {
            for (JsonNode file : record.get("files")) {
                String object = file.get("key").asText();
                files.put(file.get("filename").asText(), new Found(object, sha256(client, object)));
            }
        }
        return files;
    }

    /** {@return the SHA-256 of an object, or {@code missing} if there is no object} */
    private static String sha256(S3AsyncClient client, String key) {
        try {
            return sha256(read(client, key));
        } catch (CompletionException e) {
            if (e.getCause() instanceof NoSuchKeyException) {
                return "missing";
            }
            throw e;
        }
    }

    private static byte[] read(S3AsyncClient client, String key) {
        return client.getObject(request -> request.bucket(Cluster.BUCKET).key(key), AsyncResponseTransformer.toBytes())
                .join()
                .asByteArrayUnsafe();
    }

    private static String sha256(byte[] bytes) {
        return HexFormat.of().formatHex(Digest.sha256().digest(bytes));
    }
}

package dev.sluice.samples.cluster;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.form.MemoryBudget;
import dev.sluice.s3.ObjectStore;
import dev.sluice.s3.S3ObjectStore;
import dev.sluice.s3.S3Sinks;
import dev.sluice.samples.report.Digest;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.services.s3.S3AsyncClient;

/** An experiment that sends forms to a cluster, kills nodes meanwhile, and then checks the objects in the store. */
final class KillExperiment {
    /** The prefix that the nodes use. A sweep with a different prefix would not find their objects. */
    private static final String PREFIX = "uploads/";

    /**
     * The good results. An answer can be lost after the form is complete, so a complete form without an answer is one
     * of them.
     */
    private static final List<String> GOOD = List.of(
            "answered, whole", "not answered, absent", "not answered, whole", "refused, absent", "refused, whole");

    private static final int MIB = 1 << 20;
    private static final int AT_A_TIME = 8;

    /** Time for a killed node to restart before the next kill. Without any node, forms would only be rejected. */
    private static final long BETWEEN_SECONDS = 4;

    /**
     * The result of an experiment.
     *
     * @param verdicts the number of forms with each verdict, such as {@code answered, whole}
     * @param uploads unfinished uploads in the store
     * @param strays files in the store that belong to no form
     * @param kills killed nodes
     * @param bytes the size of all bodies
     * @param time until the last answer
     */
    record Result(
            Map<String, Integer> verdicts,
            int uploads,
            int strays,
            int kills,
            S3Sinks.Swept swept,
            long bytes,
            Duration time) {
        boolean isGood() {
            return uploads == 0 && strays == 0 && GOOD.containsAll(verdicts.keySet());
        }
    }

    /** A file of a form: its unique name and its SHA-256. */
    private record Sent(String name, String sha256) {}

    /**
     * A form: its files, the status of its answer or {@code no answer}, and the keys in the answer. A status other than 200 comes from a
     * node that could not store the form, or from the proxy if it found no node.
     */
    private record Form(List<Sent> files, String outcome, List<String> keys) {}

    /** A file that the record of a form lists: its key, and the SHA-256 of its object. */
    private record Found(String key, String sha256) {}

    /** Identifies the objects of this run, because the store may contain objects of earlier runs. */
    private final String run = UUID.randomUUID().toString();

    private final Path directory;
    private final int forms;
    private final int kills;
    private final PrintWriter out;
    private final long seed;
    private final AtomicInteger done = new AtomicInteger();
    private final AtomicInteger running = new AtomicInteger();
    private final AtomicLong sentBytes = new AtomicLong();
    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    /**
     * @param directory the directory of the running cluster
     * @param forms the number of forms to send
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
        ExecutorService clients = Executors.newFixedThreadPool(AT_A_TIME + 1);
        List<Form> sent = new ArrayList<>();
        int killed;
        try {
            List<URI> pages = Cluster.ClusterFile.of(directory).pages();
            List<Future<Form>> sending = new ArrayList<>();
            Future<Integer> killing = clients.submit(this::killAll);
            for (int i = 0; i < forms; i++) {
                int number = i;
                URI page = pages.get(i % pages.size()).resolve("upload");
                sending.add(clients.submit(() -> send(number, page)));
            }
            for (Future<Form> form : sending) {
                sent.add(form.get());
            }
            killed = killing.get();
        } finally {
            clients.shutdownNow();
        }
        Duration time = Duration.ofNanos(System.nanoTime() - since);
        return judge(sent, killed, time);
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
        HttpRequest request = HttpRequest.newBuilder(page)
                .header("Content-Type", "multipart/form-data; boundary=b")
                .timeout(Duration.ofMinutes(2))
                .POST(HttpRequest.BodyPublishers.ofByteArray(body.toByteArray()))
                .build();
        List<String> keys = new ArrayList<>();
        String outcome;
        running.incrementAndGet();
        try {
            HttpResponse<byte[]> answer = http.send(request, HttpResponse.BodyHandlers.ofByteArray());
            outcome = String.valueOf(answer.statusCode());
            if (outcome.equals("200")) {
                for (JsonNode part : new ObjectMapper().readTree(answer.body()).get("parts")) {
                    keys.add(part.get("storedAs").asText());
                }
            }
        } catch (IOException e) {
            outcome = "no answer";
        }
        running.decrementAndGet();
        done.incrementAndGet();
        return new Form(files, outcome, keys);
    }

    /** {@return a random size: often small, sometimes large enough for an upload of several pieces} */
    private static int size(Random random) {
        int kind = random.nextInt(100);
        int most = kind < 35 ? 2000 : kind < 65 ? 300_000 : kind < 90 ? 3 * MIB : 20 * MIB;
        return random.nextInt(most);
    }

    /**
     * Kills nodes at random times, only while forms are being sent, and a volume server half-way. {@return the number of
     * killed nodes}
     */
    private int killAll() throws IOException, InterruptedException {
        Random random = new Random(seed);
        List<Integer> moments = random.ints(kills, 1, Math.max(2, forms - AT_A_TIME))
                .sorted()
                .boxed()
                .toList();
        int killed = 0;
        for (int i = 0; i < moments.size(); i++) {
            while (done.get() < moments.get(i)) {
                TimeUnit.MILLISECONDS.sleep(20);
            }
            TimeUnit.MILLISECONDS.sleep(random.nextInt(200));
            while (running.get() < AT_A_TIME / 2 && done.get() < forms - AT_A_TIME) {
                TimeUnit.MILLISECONDS.sleep(1);
            }
            if (i == moments.size() / 2) {
                kill("volume", random);
            }
            killed += kill("node", random);
            TimeUnit.SECONDS.sleep(BETWEEN_SECONDS);
        }
        return killed;
    }

    private int kill(String kind, Random random) throws IOException {
        List<Map.Entry<String, Cluster.Running>> all = Cluster.ClusterFile.of(directory).processes().entrySet().stream()
                .filter(process -> process.getKey().startsWith(kind))
                .toList();
        Map.Entry<String, Cluster.Running> process = all.get(random.nextInt(all.size()));
        boolean alive =
                process.getValue().handle().map(ProcessHandle::destroyForcibly).orElse(false);
        out.println((alive ? "killed " : "already dead: ") + process.getKey() + " after " + done.get() + " forms");
        out.flush();
        return alive ? 1 : 0;
    }

    private Result judge(List<Form> sent, int killed, Duration time) throws IOException, InterruptedException {
        URI address = Cluster.ClusterFile.of(directory).store();
        TimeUnit.SECONDS.sleep(3); // lets the surviving nodes finish
        try (S3AsyncClient client = Cluster.client(address);
                ObjectStore store =
                        S3ObjectStore.builder(Cluster.BUCKET).client(client).build()) {
            // No upload is running, so every unfinished form is left over.
            S3Sinks.Swept swept = S3Sinks.builder(store, MemoryBudget.unlimited())
                    .prefix(PREFIX)
                    .maxAge(Duration.ofNanos(1))
                    .build()
                    .sweep()
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
            int uploads = client.listMultipartUploads(request -> request.bucket(Cluster.BUCKET))
                    .join()
                    .uploads()
                    .size();
            Map<String, Integer> verdicts = new TreeMap<>();
            for (int i = 0; i < sent.size(); i++) {
                String verdict = verdict(sent.get(i), found);
                verdicts.merge(verdict, 1, Integer::sum);
                if (!verdict.equals(GOOD.get(0))) {
                    out.println("form " + i + ": " + sent.get(i).outcome() + ", " + verdict);
                }
            }
            return new Result(verdicts, uploads, keys.size(), killed, swept, sentBytes.get(), time);
        }
    }

    private static String verdict(Form form, Map<String, Found> found) {
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
                : form.outcome().equals("no answer") ? "not answered, " : "refused, ";
        return outcome + (there == 0 ? "absent" : whole ? "whole" : "in part");
    }

    /** {@return the files of a form by their names, read by the documented rule; none if the form does not exist} */
    private static Map<String, Found> files(S3AsyncClient client, String key) throws IOException {
        byte[] json = read(client, key);
        JsonNode record = new ObjectMapper().readTree(json);
        String sum = record.path("sha256").asText();
        int end = json.length - ",\"sha256\":\"\"}".length() - sum.length();
        boolean isIntact = end > 0 && sha256(Arrays.copyOf(json, end)).equals(sum);
        Map<String, Found> files = new HashMap<>();
        if (isIntact && record.path("state").asText().equals("committed")) {
            for (JsonNode file : record.get("files")) {
                String object = file.get("key").asText();
                files.put(file.get("filename").asText(), new Found(object, sha256(read(client, object))));
            }
        }
        return files;
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

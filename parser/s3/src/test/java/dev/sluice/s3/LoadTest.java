package dev.sluice.s3;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.s3.Uploads.File;
import dev.sluice.testkit.FaultProxy;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.SequenceInputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3AsyncClient;

/** The memory and the time that large files take. Prints its measurements. */
@ExtendWith(Weed.IsThere.class)
@Execution(ExecutionMode.CONCURRENT) // most of the time is waiting
@Tag("full")
class LoadTest {
    private static final int MIB = 1 << 20;
    private static final int ROUNDS = 7;

    /** A process with little memory. It uploads a number of files at the same time, and prints the peak use of its budget. */
    static final class Small {
        private Small() {}

        public static void main(String[] arguments) throws Exception {
            MemoryBudget budget = MemoryBudget.of(64 * MIB);
            S3ObjectStore store = Bench.store(URI.create(arguments[0]));
            S3Sinks sinks = S3Sinks.builder(store, budget)
                    .prefix(arguments[1])
                    .maxWait(Duration.ofHours(1))
                    .build();
            try (Forms forms = Forms.of(options(budget))) {
                List<Uploads.Sending> sending = new ArrayList<>();
                for (int i = 0; i < Integer.parseInt(arguments[3]); i++) {
                    sending.add(Uploads.send(
                            forms,
                            sinks.newForm().options(forms.options()),
                            Uploads.body(List.of(file(arguments[2]))),
                            PooledByteBufAllocator.DEFAULT));
                }
                for (Uploads.Sending each : sending) {
                    each.form().get().close();
                }
            }
            System.out.println(budget.peak());
            System.exit(0);
        }
    }

    private static FormOptions options(MemoryBudget budget) {
        return FormOptions.inMemory(budget)
                .maxBodyBytes(1L << 40)
                .maxPartBytes(1L << 40)
                .build();
    }

    private static File file(String mebibytes) {
        return new File("large", Long.parseLong(mebibytes) * MIB);
    }

    /** With {@code -Dsluice.large=5120} the file has 5 GiB, and the test needs 10 GiB of disk space. */
    @Test
    void largeFile_needsNoMoreMemoryThanASmallOne() throws Exception {
        // One segment is being filled, and two are being sent. The rest is for the form and its chunks.
        long most = 26L * MIB;
        for (String mebibytes : List.of("64", System.getProperty("sluice.large", "256"))) {
            long peak = upload(mebibytes, 1);
            assertTrue(peak <= most, mebibytes + " MiB took " + peak);
        }
    }

    /** Needs 10 GiB of disk space. */
    @Test
    @EnabledIfSystemProperty(named = "sluice.large", matches = ".*")
    void hundredUploads_ofFiftyMebibytes_shareLittleMemory() throws Exception {
        upload("50", 100);
    }

    /** {@return the peak use of the budget, in bytes} */
    private static long upload(String mebibytes, int count) throws Exception {
        try (Bench bench = new Bench()) {
            long since = System.nanoTime();
            Process process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-Xmx256m",
                            "-XX:MaxDirectMemorySize=256m",
                            "-cp",
                            System.getProperty("java.class.path"),
                            Small.class.getName(),
                            Weed.running().address().toString(),
                            bench.prefix,
                            mebibytes,
                            String.valueOf(count))
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            long peak;
            try (BufferedReader out =
                    new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.US_ASCII))) {
                peak = Long.parseLong(out.readLine());
            }
            assertEquals(0, process.waitFor());
            System.out.printf(
                    "%d of %s MiB: %.1f s, peak %d%n", count, mebibytes, (System.nanoTime() - since) / 1e9, peak);
            List<String> keys = bench.keys().stream()
                    .filter(key -> key.endsWith("/1") && !key.contains("/.open/"))
                    .toList();
            assertEquals(count, keys.size());
            for (String key : keys) {
                MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
                try (InputStream in = bench.client
                        .getObject(
                                request -> request.bucket(Weed.BUCKET).key(key),
                                AsyncResponseTransformer.toBlockingInputStream())
                        .join()) {
                    new DigestInputStream(in, sha256).transferTo(OutputStream.nullOutputStream());
                }
                assertEquals(file(mebibytes).sha256(), HexFormat.of().formatHex(sha256.digest()));
                bench.delete(key);
            }
            return peak;
        }
    }

    /** The time limits have their default values. */
    @ParameterizedTest
    @ValueSource(ints = {64, 256})
    void slowStore_storesAllForms(int budgetMebibytes) throws Exception {
        long since = System.nanoTime();
        try (Bench bench = new Bench(
                Weed.BUCKET,
                new FaultProxy(Weed.running().port(), MIB),
                (long) budgetMebibytes * MIB,
                store -> store.attemptTimeout(Duration.ofSeconds(15)).pauseMillis(100),
                sinks -> sinks)) {
            Map<S3Form, List<File>> files = new LinkedHashMap<>();
            List<Uploads.Sending> sending = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                S3Form form = bench.sinks.newForm();
                files.put(form, List.of(new File("file" + i, 12 * MIB)));
                sending.add(bench.send(form, files.get(form)));
            }
            for (Uploads.Sending each : sending) {
                each.form().get(10, TimeUnit.MINUTES).close();
            }
            System.out.printf(
                    "72 MiB at 1 MiB/s, budget of %d MiB: %.1f s%n",
                    budgetMebibytes, (System.nanoTime() - since) / 1e9);
            for (S3Form form : files.keySet()) {
                bench.assertStored(form, files.get(form));
            }
        }
    }

    private interface Upload {
        void run(String key) throws Exception;
    }

    /** Uploads the same file by a form and by the SDK, in turn. Needs an idle machine, so run it alone; it is not part of a build. */
    @Test
    @EnabledIfSystemProperty(named = "sluice.large", matches = ".*")
    void form_isNearlyAsFastAsTheSdk(@TempDir Path directory) throws Exception {
        Path file = directory.resolve("file");
        try (InputStream content = file("256").content()) {
            Files.copy(content, file);
        }
        URI address = Weed.running().address();
        try (Bench bench = new Bench();
                S3ObjectStore store = Bench.store(address);
                Forms forms = Forms.of(options(bench.budget));
                S3AsyncClient sdk = S3AsyncClient.builder()
                        .endpointOverride(address)
                        .region(Region.US_EAST_1)
                        .forcePathStyle(true)
                        .credentialsProvider(Weed.CREDENTIALS)
                        .multipartEnabled(true)
                        .build()) {
            S3Sinks sinks =
                    S3Sinks.builder(store, bench.budget).prefix(bench.prefix).build();
            Map<String, Upload> ways = new TreeMap<>();
            ways.put(
                    "form",
                    key -> { // not used: the keys of a form are random
                        try (InputStream body = body(file)) {
                            S3Form objects = sinks.newForm();
                            Uploads.send(forms, objects.options(forms.options()), body, PooledByteBufAllocator.DEFAULT)
                                    .form()
                                    .get()
                                    .close();
                        }
                    });
            ways.put(
                    "sdk",
                    key -> sdk.putObject(
                                    request -> request.bucket(Weed.BUCKET).key(key), AsyncRequestBody.fromFile(file))
                            .join());
            Map<String, List<Double>> seconds = new TreeMap<>();
            for (int round = 0; round <= ROUNDS; round++) { // the first one warms up
                for (Map.Entry<String, Upload> way : ways.entrySet()) {
                    long since = System.nanoTime();
                    way.getValue().run(bench.prefix + "sdk");
                    double took = (System.nanoTime() - since) / 1e9;
                    List<Double> all = seconds.computeIfAbsent(way.getKey(), name -> new ArrayList<>());
                    if (round > 0) {
                        all.add(took);
                    }
                    bench.keys().forEach(bench::delete);
                }
            }
            seconds.forEach((way, all) -> {
                Collections.sort(all);
                System.out.printf(
                        "%s: 256 MiB in %.2f s, %.2f to %.2f%n", way, median(all), all.get(0), all.get(ROUNDS - 1));
            });
            double ratio = median(seconds.get("sdk")) / median(seconds.get("form"));
            System.out.printf("of the speed of the SDK: %.2f%n", ratio);
            assertTrue(ratio >= 0.9, "of the speed of the SDK: " + ratio);
        }
    }

    private static double median(List<Double> sorted) {
        return sorted.get(sorted.size() / 2);
    }

    private static InputStream body(Path file) throws IOException {
        byte[] head = "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\n\r\n"
                .getBytes(StandardCharsets.US_ASCII);
        return new SequenceInputStream(Collections.enumeration(List.of(
                new ByteArrayInputStream(head),
                Files.newInputStream(file),
                new ByteArrayInputStream("\r\n--b--\r\n".getBytes(StandardCharsets.US_ASCII)))));
    }
}

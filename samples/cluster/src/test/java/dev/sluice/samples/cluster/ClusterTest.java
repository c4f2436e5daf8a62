package dev.sluice.samples.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.samples.report.Digest;
import dev.sluice.testkit.Installed;
import dev.sluice.testkit.ProofSize;
import dev.sluice.testkit.Seaweed;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;

class ClusterTest {
    @TempDir
    Path directory;

    @Test
    @Tag("sized")
    @Timeout(value = 30, unit = TimeUnit.MINUTES) // a busy machine restarts nodes slowly
    void forms_nodesKilled_areCompleteOrAbsent() throws Exception {
        Installed.require("SeaweedFS", Seaweed.program().isPresent());
        Installed.require(
                "HAProxy", Seaweed.program("SLUICE_HAPROXY", "haproxy").isPresent());
        int forms = ProofSize.of("sluice.cluster.forms", 16, 100);
        StringWriter log = new StringWriter();
        try (Cluster cluster = new Cluster(directory, 0, 3)) {
            assertEquals(1, cluster.pages().size(), "the proxy");
            int kills = ProofSize.of("sluice.cluster.kills", 1, 10);
            KillExperiment.Result result = new KillExperiment(directory, forms, kills, 1, new PrintWriter(log)).run();
            assertTrue(result.isGood(), () -> result + "\n" + log);
            assertEquals(kills, result.kills());
            assertTrue(result.inPublication() >= kills / 10, () -> result + "\n" + log);
            assertTrue(result.sweeps() >= 2, () -> result + "\n" + log);
            assertTrue(result.verdicts().get("answered, whole") > forms / 2, () -> result + "\n" + log);
            KillExperiment.Result again = new KillExperiment(directory, 8, 0, 1, new PrintWriter(log)).run();
            assertEquals(Map.of("answered, whole", 8), again.verdicts(), "objects of the first run are counted");

            int taken = cluster.pages().get(0).getPort();
            IOException rejected =
                    assertThrows(IOException.class, () -> new Cluster(directory.resolve("other"), taken, 1).close());
            assertEquals("port " + taken + " is already in use: pass another --port", rejected.getMessage());
        }
        IOException none = assertThrows(IOException.class, () -> Cluster.ClusterFile.of(directory));
        assertEquals("no cluster is running in " + directory, none.getMessage());
    }

    @Test
    void committedForm_withoutItsFile_isFound() throws Exception {
        String content = "{\"state\":\"committed\",\"files\":[{\"key\":\"uploads/f/1\",\"filename\":\"a\"}]";
        String sum = HexFormat.of().formatHex(Digest.sha256().digest(content.getBytes(StandardCharsets.UTF_8)));
        String record = content + ",\"sha256\":\"" + sum + "\"}";
        S3AsyncClient store = new S3AsyncClient() {
            @Override
            public <R> CompletableFuture<R> getObject(
                    GetObjectRequest request, AsyncResponseTransformer<GetObjectResponse, R> transformer) {
                if (!request.key().equals("uploads/f/form.json")) {
                    return CompletableFuture.failedFuture(
                            NoSuchKeyException.builder().build());
                }
                CompletableFuture<R> result = transformer.prepare();
                transformer.onResponse(GetObjectResponse.builder().build());
                transformer.onStream(AsyncRequestBody.fromString(record));
                return result;
            }

            @Override
            public String serviceName() {
                return "s3";
            }

            @Override
            public void close() {}
        };
        KillExperiment.Form form =
                new KillExperiment.Form(0, List.of(new KillExperiment.Sent("a", "0")), "200", List.of(), 0, 0);
        assertEquals(
                "answered, in part", KillExperiment.verdict(form, KillExperiment.files(store, "uploads/f/form.json")));
    }

    @Test
    void processHandle_reusedNumber_isEmpty() {
        ProcessHandle self = ProcessHandle.current();
        Cluster.Running running = Cluster.Running.of(self);
        assertEquals(running, Cluster.Running.parse(running.toString()));
        assertEquals(Optional.of(self), running.handle());
        assertEquals(Optional.empty(), new Cluster.Running(self.pid(), running.startMillis() - 60_000).handle());
    }
}

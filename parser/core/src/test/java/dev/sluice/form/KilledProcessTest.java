package dev.sluice.form;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.testkit.ProofSize;
import io.netty.buffer.Unpooled;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Processes killed during uploads. A restart removes their temporary files, and no published file is incomplete. */
@Tag("sized")
class KilledProcessTest {
    private static final int KILLS = ProofSize.of("sluice.kills", 8, 50);
    private static final int SIZE = 40_000;

    @TempDir
    Path root;

    @Test
    void killedProcess_restart_leavesNoTemporaryOrPartialFiles() throws Exception {
        SplittableRandom random = new SplittableRandom(20);
        Path spoolRoot = root.resolve("spool");
        Path targets = Files.createDirectory(root.resolve("targets"));
        int left = 0;
        for (int kill = 0; kill < KILLS; kill++) {
            killAfter(1 + random.nextInt(400), kill, targets);
            List<Path> orphans = Upload.list(spoolRoot);
            assertEquals(2, orphans.size(), "one directory and its lock file; earlier ones were swept: " + orphans);
            left += Upload.list(orphans.get(0)).size();
        }
        try (SpoolDirectory spool =
                SpoolDirectory.builder(spoolRoot).keepFreeBytes(0).open()) {
            assertEquals(2, Upload.list(spoolRoot).size());
            assertTrue(spool.path()
                    .getFileName()
                    .toString()
                    .contains("-" + ProcessHandle.current().pid() + "-"));
        }
        assertEquals(List.of(), Upload.list(spoolRoot));
        assertTrue(left > 0, "no process was killed while it had files");
        List<Path> published = Upload.list(targets);
        assertFalse(published.isEmpty());
        for (Path target : published) {
            byte[] bytes = Files.readAllBytes(target);
            CRC32C crc = new CRC32C();
            crc.update(bytes, 0, SIZE);
            assertEquals(SIZE + 8, bytes.length, target.toString());
            assertEquals(String.format("%08x", crc.getValue()), new String(bytes, SIZE, 8, StandardCharsets.US_ASCII));
        }
    }

    /** Kills a child process after a number of its steps. */
    private void killAfter(int steps, int seed, Path targets) throws IOException, InterruptedException {
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx64m",
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Child.class.getName(),
                        root.resolve("spool").toString(),
                        targets.toString(),
                        Integer.toString(seed))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader output = child.inputReader(StandardCharsets.US_ASCII)) {
            for (int step = 0; step < steps; step++) {
                assertEquals("step", output.readLine());
            }
        } finally {
            child.destroyForcibly(); // SIGKILL
        }
        assertTrue(child.waitFor(1, TimeUnit.MINUTES));
        assertEquals(128 + 9, child.exitValue());
    }

    /** Receives uploads until it is killed. Each has a part for the spool and one for a file that contains a checksum of its content. */
    static final class Child {
        private Child() {}

        public static void main(String[] args) throws IOException {
            Path targets = Path.of(args[1]);
            SplittableRandom random = new SplittableRandom(Integer.parseInt(args[2]));
            SpoolDirectory spool =
                    SpoolDirectory.builder(Path.of(args[0])).keepFreeBytes(0).open();
            for (int upload = 0; ; upload++) {
                Path target = targets.resolve(args[2] + "-" + upload);
                FormOptions options = FormOptions.builder(spool, MemoryBudget.unlimited())
                        .decider(part -> part.name().equals("target")
                                ? PartDecision.to(PartSink.toFile(spool, target))
                                : PartDecision.store())
                        .spillThreshold(1000)
                        .build();
                receive(body(random), options);
            }
        }

        private static byte[] body(SplittableRandom random) {
            StringBuilder content = new StringBuilder();
            while (content.length() < SIZE) {
                content.append((char) ('a' + random.nextInt(26)));
            }
            CRC32C crc = new CRC32C();
            crc.update(content.toString().getBytes(StandardCharsets.US_ASCII));
            content.append(String.format("%08x", crc.getValue()));
            return new Upload()
                    .file("spilled", "s", "s".repeat(SIZE))
                    .file("target", "t", content.toString())
                    .toBytes();
        }

        private static void receive(byte[] body, FormOptions options) throws IOException {
            try (PushedForm assembler = PushedForm.create(Upload.BOUNDARY, options)) {
                for (int at = 0; at < body.length; at += 4000) {
                    assembler.feed(Unpooled.wrappedBuffer(body, at, Math.min(4000, body.length - at)));
                    System.out.println("step");
                }
                assembler.finish().close();
            }
        }
    }
}

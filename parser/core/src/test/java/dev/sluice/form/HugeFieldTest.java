package dev.sluice.form;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A field without a file name is bounded like a file (CVE-2023-26048 and its kind). */
class HugeFieldTest {
    private static final long SIZE = 1L << 30;

    @TempDir
    Path root;

    @Test
    void aFieldOfOneGibibyteIsRefusedInAHeapOf64Mebibytes() throws Exception {
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx64m",
                        "-XX:MaxDirectMemorySize=32m",
                        "-XX:+ExitOnOutOfMemoryError",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Child.class.getName(),
                        root.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String output = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(child.waitFor(2, TimeUnit.MINUTES), output);
        assertEquals(
                List.of(
                        "defaults: BODY_TOO_LARGE 413",
                        "memory: FIELD_TOO_LARGE 413",
                        "no spool: IN_MEMORY_TOO_LARGE 413",
                        "no limits: SPOOL_QUOTA 507",
                        "skipped: 0 parts",
                        "files 0 bytes 0 memory 0"),
                output.lines().toList());
        assertEquals(List.of(), Upload.list(root));
    }

    /** Runs in a JVM of its own. */
    static final class Child {
        private Child() {}

        public static void main(String[] args) throws IOException {
            MemoryBudget budget = MemoryBudget.of(8 << 20);
            try (SpoolDirectory spool = SpoolDirectory.builder(Path.of(args[0]))
                    .maxBytes(100 << 20)
                    .keepFreeBytes(0)
                    .open()) {
                FormOptions defaults = FormOptions.builder(spool, budget).build();
                FormOptions unlimited =
                        defaults.toBuilder().limits(l -> l.unlimitedBodyBytes()).build();
                System.out.println("defaults: " + read(defaults));
                System.out.println("memory: "
                        + read(unlimited.toBuilder()
                                .decider(part -> PartDecision.memory())
                                .build()));
                System.out.println("no spool: "
                        + read(FormOptions.inMemory(budget)
                                .limits(l -> l.unlimitedBodyBytes())
                                .build()));
                System.out.println("no limits: " + read(unlimited));
                System.out.println("skipped: "
                        + read(unlimited.toBuilder()
                                .decider(part -> PartDecision.skip())
                                .build()));
                System.out.println("files " + spool.files() + " bytes " + spool.bytes() + " memory " + budget.used());
            }
        }

        private static String read(FormOptions options) throws IOException {
            try (MultipartForm form = MultipartForm.read(body(), Upload.BOUNDARY, options)) {
                return form.parts().size() + " parts";
            } catch (MultipartException e) {
                return e.reason() + " " + e.httpStatus();
            } catch (CapacityException e) {
                return e.resource() + " " + e.httpStatus();
            }
        }

        private static InputStream body() {
            InputStream head = new ByteArrayInputStream(
                    "--x\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            InputStream tail = new ByteArrayInputStream("\r\n--x--\r\n".getBytes(StandardCharsets.US_ASCII));
            return new SequenceInputStream(Collections.enumeration(List.of(head, new Letters(), tail)));
        }
    }

    /** Always the same letter. */
    private static final class Letters extends InputStream {
        private long left = SIZE;

        @Override
        public int read() {
            return left-- > 0 ? 'v' : -1;
        }

        @Override
        public int read(byte[] target, int index, int length) {
            int count = (int) Math.min(length, left);
            Arrays.fill(target, index, index + count, (byte) 'v');
            left -= count;
            return count == 0 ? -1 : count;
        }
    }
}

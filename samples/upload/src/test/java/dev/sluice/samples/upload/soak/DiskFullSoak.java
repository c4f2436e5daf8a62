package dev.sluice.samples.upload.soak;

import dev.sluice.samples.upload.TestForm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;

/**
 * Uploads to a disk that is too small. Rejected uploads must leave nothing, uploads without files must be accepted, and
 * all uploads must be accepted again when there is space.
 */
final class DiskFullSoak {
    private static final int CLIENTS = 8;
    private static final int UPLOADS_EACH = 30;
    private static final int FILE_BYTES = 1 << 20;

    private final int cycles;

    /** @param cycles how often the disk is filled and emptied */
    DiskFullSoak(int cycles) {
        this.cycles = cycles;
    }

    /**
     * The result of a soak.
     *
     * @param keptFreeBytes the space that the server must leave free, in bytes. With 0, only the file system rejects
     *     writes
     * @param statuses the number of responses with each status
     * @param refusedFields the number of rejected uploads without a file
     * @param refusedAfter the number of uploads rejected although there was space again
     */
    record Result(
            long keptFreeBytes,
            int cycles,
            Map<Integer, Long> statuses,
            long refusedFields,
            long refusedAfter,
            Vitals before,
            Vitals after) {
        boolean isGood() {
            return statuses.keySet().equals(Set.of(200, 507))
                    && refusedFields == 0
                    && refusedAfter == 0
                    && after.descriptors() <= before.descriptors() + 2;
        }
    }

    /** {@return the result, for a server with this directory that must leave the given space free} */
    Result run(Path directory, long keepFreeBytes) throws IOException, InterruptedException {
        Map<Integer, Long> statuses = new TreeMap<>();
        long refusedFields = 0;
        long refusedAfter = 0;
        try (Threads threads = new Threads(CLIENTS);
                StoringServer host = new StoringServer(directory, 2L * FILE_BYTES, keepFreeBytes)) {
            Vitals before;
            Vitals after;
            try (Client observer = new Client(host.port())) {
                byte[] file = request(new TestForm().file("f", "f.bin", TestForm.noise(FILE_BYTES, 5)));
                byte[] fields = request(new TestForm().field("a", "1"));
                refusedAfter += refused(observer, file, 1);
                empty(host);
                before = host.settled(observer);
                for (int cycle = 0; cycle < cycles; cycle++) {
                    fill(threads, host.port(), file, statuses);
                    refusedFields += refused(observer, fields, 3);
                    host.settled(observer); // waits until no incomplete file is left
                    empty(host);
                    refusedAfter += refused(observer, file, 3);
                    empty(host);
                }
                after = host.settled(observer);
            }
            host.end();
            return new Result(keepFreeBytes, cycles, statuses, refusedFields, refusedAfter, before, after);
        }
    }

    private static void fill(Threads threads, int port, byte[] request, Map<Integer, Long> statuses)
            throws IOException, InterruptedException {
        Callable<List<Integer>> upload = () -> {
            List<Integer> answers = new ArrayList<>();
            try (Client client = new Client(port)) {
                for (int i = 0; i < UPLOADS_EACH; i++) {
                    answers.add(client.exchange(request).status());
                }
            }
            return answers;
        };
        for (List<Integer> answers : threads.all(Collections.nCopies(CLIENTS, upload))) {
            answers.forEach(status -> statuses.merge(status, 1L, Long::sum));
        }
    }

    private static long refused(Client client, byte[] request, int count) throws IOException {
        long refused = 0;
        for (int i = 0; i < count; i++) {
            refused += client.exchange(request).status() == 200 ? 0 : 1;
        }
        return refused;
    }

    private static void empty(StoringServer host) throws IOException {
        for (Path file : host.stored()) {
            Files.delete(file);
        }
    }

    private static byte[] request(TestForm form) {
        return TestForm.request("/upload", form.body());
    }
}

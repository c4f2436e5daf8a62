package dev.sluice.bench.endtoend;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * How much CPU time a process has used up to a moment. What Java tells comes in steps of 10 ms, so each thread is asked for
 * where the system counts it in nanoseconds.
 *
 * @param threads nanoseconds by number of the thread, those of the JVM included; empty where the system does not tell
 * @param processNanos as Java tells it
 */
record CpuMark(Map<String, Long> threads, long processNanos) {
    static CpuMark of(long pid, long processNanos) {
        Map<String, Long> threads = new HashMap<>();
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc", Long.toString(pid), "task"))) {
            for (Path task : tasks) {
                String counts = Files.readString(task.resolve("schedstat"));
                threads.put(task.getFileName().toString(), Long.parseLong(counts.substring(0, counts.indexOf(' '))));
            }
        } catch (IOException e) {
            // Not on this system, or a thread ended meanwhile: the process as a whole will do.
            return new CpuMark(Map.of(), processNanos);
        }
        return new CpuMark(threads, processNanos);
    }

    double secondsSince(CpuMark before) {
        if (threads.isEmpty() || before.threads().isEmpty()) {
            return (processNanos - before.processNanos()) / 1e9;
        }
        long nanos = 0;
        for (Map.Entry<String, Long> thread : threads.entrySet()) {
            nanos += thread.getValue() - before.threads().getOrDefault(thread.getKey(), 0L);
        }
        return nanos / 1e9;
    }
}

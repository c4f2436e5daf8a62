package dev.sluice.bench;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A measured figure, or the reason why it could not be measured.
 *
 * @param table the table of the row
 * @param benchmark the class and method
 * @param params the parameters of the benchmark
 * @param unit the unit of the score: "us/op" or "ns/op" for times, "records" for counts, or for example "MiB/s"
 * @param score the mean of all measured iterations, or the median of all rounds; null if there is none
 * @param error half the 99.9 % confidence interval of the mean, computed by JMH, or half the range of the means of the forks, whichever is
 *     larger; 0 for counts
 * @param best the fastest iteration, which other programs disturb least
 * @param cpu the smallest CPU time per operation of all iterations, in the benchmark's own threads
 * @param samples the number of measured iterations of all forks
 * @param allocated the number of bytes allocated per operation on the Java heap
 * @param bytes the size of the input of one operation; 0 if it does not matter
 * @param parts the number of parts in the input
 * @param note a remark that readers of the figure need
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record Row(
        String table,
        String benchmark,
        Map<String, String> params,
        String unit,
        @Nullable Double score,
        @Nullable Double error,
        @Nullable Double best,
        @Nullable Double cpu,
        int samples,
        @Nullable Double allocated,
        long bytes,
        long parts,
        @Nullable String note) {
    /** The start of the note of a figure that could not be measured. */
    static final String FAILED = "failed: ";

    private static final double VAGUE = 0.3;

    static Row counted(
            String table,
            String benchmark,
            Map<String, String> params,
            double count,
            long bytes,
            long parts,
            @Nullable String note) {
        return new Row(table, benchmark, params, "records", count, 0.0, null, null, 1, null, bytes, parts, note);
    }

    static Row without(
            String table, String benchmark, Map<String, String> params, long bytes, long parts, @Nullable String note) {
        return new Row(table, benchmark, params, "us/op", null, null, null, null, 0, null, bytes, parts, note);
    }

    /** Returns the identity of the row, which is the same in every run. */
    String key() {
        return table + " " + benchmark + " " + new TreeMap<>(params);
    }

    /** Returns the key of the row that differs from this one in the value of one parameter. */
    String keyOf(String param, String value) {
        Map<String, String> others = new TreeMap<>(params);
        others.put(param, value);
        return table + " " + benchmark + " " + others;
    }

    String way() {
        return benchmark.substring(benchmark.indexOf('.') + 1);
    }

    /**
     * Returns whether the row matches a query.
     *
     * @param query the table, followed by {@code NAME=VALUE} or {@code NAME=VALUE,VALUE} for parameters. The name {@code way} stands for the
     *     benchmark method. All words are separated by spaces.
     */
    boolean matches(String query) {
        String[] words = query.split(" ");
        boolean matches = table.equals(words[0]);
        for (int i = 1; i < words.length && matches; i++) {
            String[] pair = words[i].split("=", 2);
            String value = pair[0].equals("way") ? way() : param(pair[0]);
            matches = List.of(pair[1].split(",")).contains(value);
        }
        return matches;
    }

    /** Returns whether the measurement failed although the parser accepted the body. */
    boolean failed() {
        return note != null && note.startsWith(FAILED);
    }

    /** Returns whether the result of the parser differs from the content of the body, or its measurement failed. */
    boolean wrong() {
        return note != null && benchmark.equals("PeerBenchmark.decode");
    }

    /** Returns whether the row measures a parser or a server of Sluice. */
    boolean ofSluice() {
        String server = param("server");
        return param("peer").startsWith("sluice") || server.startsWith("sluice") || server.startsWith("handler");
    }

    /** Returns whether the error is too large to publish the mean. */
    boolean vague() {
        return relativeError() > VAGUE;
    }

    String param(String name) {
        return params.getOrDefault(name, "");
    }

    /** Returns the error relative to the score, or 0 without an error. */
    double relativeError() {
        return score == null || error == null || error.isNaN() || score == 0 ? 0 : error / score;
    }

    /** Returns the throughput, for scores of time per operation. */
    double mebibytesPerSecond() {
        return bytes / (double) (1 << 20) / seconds();
    }

    /** Returns the time per byte of the input. */
    double nanosPerByte() {
        return seconds() * 1e9 / bytes;
    }

    /** Returns a figure that is better if it is smaller: the score, or its reciprocal if the score is a rate. */
    double cost() {
        return score == null ? Double.NaN : unit.endsWith("/s") ? 1 / score : score;
    }

    private double seconds() {
        return score == null ? Double.NaN : score / (unit.equals("ns/op") ? 1e9 : 1e6);
    }
}

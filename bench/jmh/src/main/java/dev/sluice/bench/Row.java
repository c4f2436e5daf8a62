package dev.sluice.bench;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One measured figure, or the reason why there is none.
 *
 * @param table the table it belongs to
 * @param benchmark class and method
 * @param params what the benchmark was told
 * @param unit of the score, "us/op" or "ns/op"; "records" or "bytes" for what is counted; "MiB/s" and the like
 * @param score mean over all measured iterations; null when the parser refuses the input
 * @param error the larger of half of the 99.9 % confidence interval of the mean, as JMH gives it, and half of the range between
 *     the means of the forks; 0 for counts
 * @param best the fastest iteration: where other programs share the machine, the figure least disturbed by them
 * @param cpu CPU time that the benchmark's own threads spent on one operation, in the iteration in which it was least
 * @param samples measured iterations over all forks
 * @param allocated bytes allocated per operation on the Java heap
 * @param bytes size of the input of one operation; 0 when size does not matter
 * @param parts parts in the input of one operation
 * @param note what a reader must know beside the figure
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
    /** How the note of a figure begins that could not be measured. */
    static final String FAILED = "failed: ";

    private static final double VAGUE = 0.3;

    /** What is counted is exact. */
    static Row counted(
            String table,
            String benchmark,
            Map<String, String> params,
            double count,
            long bytes,
            long parts,
            @Nullable String note) {
        String unit = note == null ? "bytes" : "records";
        return new Row(table, benchmark, params, unit, count, 0.0, null, null, 1, null, bytes, parts, note);
    }

    /** What could not be measured. */
    static Row without(
            String table, String benchmark, Map<String, String> params, long bytes, long parts, @Nullable String note) {
        return new Row(table, benchmark, params, "us/op", null, null, null, null, 0, null, bytes, parts, note);
    }

    /** The same in every run: what was measured, without the figures. */
    String key() {
        return table + " " + benchmark + " " + new TreeMap<>(params);
    }

    /** The key of the same row with another value of one parameter. */
    String keyOf(String param, String value) {
        Map<String, String> others = new TreeMap<>(params);
        others.put(param, value);
        return table + " " + benchmark + " " + others;
    }

    String way() {
        return benchmark.substring(benchmark.indexOf('.') + 1);
    }

    /**
     * Whether a query picks it.
     *
     * @param query the table, then {@code NAME=VALUE} or {@code NAME=VALUE,VALUE} for parameters, of which {@code way} is the
     *     benchmark method
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

    /** Whether it could not be measured though the parser took the body. */
    boolean failed() {
        return note != null && note.startsWith(FAILED);
    }

    /** Whether the parser delivered something else than what the body holds. */
    boolean wrong() {
        return note != null && benchmark.equals("PeerBenchmark.decode");
    }

    /** Whether it is one of Sluice's, among parsers or servers. */
    boolean ofSluice() {
        String server = param("server");
        return param("peer").startsWith("sluice") || server.startsWith("sluice") || server.startsWith("handler");
    }

    /** Whether its error is so large that no table and no chart shows it. */
    boolean vague() {
        return relativeError() > VAGUE;
    }

    String param(String name) {
        return params.getOrDefault(name, "");
    }

    /** Error as a share of the score; 0 when there is none. */
    double relativeError() {
        return score == null || error == null || error.isNaN() || score == 0 ? 0 : error / score;
    }

    /** Body bytes per second in MiB, for scores of time per operation. */
    double mebibytesPerSecond() {
        return bytes / (double) (1 << 20) / seconds();
    }

    /** Time of one operation by the size of its input. */
    double nanosPerByte() {
        return seconds() * 1e9 / bytes;
    }

    /** What is better when it is less: the score, or one by the score where that counts what is done per second. */
    double cost() {
        return score == null ? Double.NaN : unit.endsWith("/s") ? 1 / score : score;
    }

    private double seconds() {
        return score == null ? Double.NaN : score / (unit.equals("ns/op") ? 1e9 : 1e6);
    }
}

package dev.sluice.bench;

import java.util.List;
import java.util.Map;

/**
 * One figure to be measured.
 *
 * @param table the table it goes to
 * @param benchmark simple class name and method
 * @param params values of the benchmark's parameters
 * @param jvmArgs for the fork, beside the common ones
 */
record Trial(String table, String benchmark, Map<String, String> params, List<String> jvmArgs, Effort effort) {

    Trial(String table, String benchmark, Map<String, String> params, Effort effort) {
        this(table, benchmark, params, List.of(), effort);
    }

    Trial with(Effort other) {
        return new Trial(table, benchmark, params, jvmArgs, other);
    }

    boolean decodes() {
        return benchmark.equals("PeerBenchmark.decode");
    }

    String label() {
        return table + " " + benchmark.substring(benchmark.indexOf('.') + 1) + " " + String.join(" ", params.values());
    }
}

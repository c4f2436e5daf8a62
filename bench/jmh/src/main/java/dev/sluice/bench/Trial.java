package dev.sluice.bench;

import java.util.List;
import java.util.Map;

/**
 * One figure to be measured.
 *
 * @param table the table it goes to
 * @param group those it is compared with, which are measured in turn with it, fork by fork; a figure that is in several
 *     groups is measured in each of them
 * @param benchmark simple class name and method
 * @param params values of the benchmark's parameters
 * @param jvmArgs for the fork, beside the common ones
 */
record Trial(
        String table, String group, String benchmark, Map<String, String> params, List<String> jvmArgs, Effort effort) {
    Trial quick() {
        return new Trial(table, group, benchmark, params, jvmArgs, Effort.QUICK);
    }

    boolean decodes() {
        return benchmark.equals("PeerBenchmark.decode");
    }

    /** The same for all trials that measure the same figure. */
    String label() {
        return table + " " + benchmark.substring(benchmark.indexOf('.') + 1) + " " + String.join(" ", params.values());
    }
}

package dev.sluice.bench;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A figure to measure.
 *
 * @param group the name of the group. The figures of a group are compared with each other, so their forks alternate. A figure in several
 *     groups is measured in each of them.
 * @param benchmark the simple class name and the method
 */
record Trial(
        String table, String group, String benchmark, Map<String, String> params, List<String> jvmArgs, Effort effort) {
    Trial quick() {
        return new Trial(table, group, benchmark, params, jvmArgs, Effort.FRINGE);
    }

    boolean decodes() {
        return benchmark.equals("PeerBenchmark.decode");
    }

    boolean ofCrate() {
        return benchmark.equals(Crates.BENCHMARK);
    }

    /** Returns a text that is equal for all trials of the same figure. */
    String label() {
        return table + " " + benchmark.substring(benchmark.indexOf('.') + 1) + " " + String.join(" ", params.values());
    }

    static double seconds(List<Trial> trials) {
        return trials.stream().mapToDouble(trial -> trial.effort().seconds()).sum();
    }

    /** Returns the number of figures and the expected duration on an idle machine: a line per table and one for all. */
    static String plan(List<Trial> trials) {
        Map<String, List<Trial>> tables = trials.stream()
                .collect(Collectors.groupingBy(
                        trial -> trial.table().replaceFirst(":.*", ""), LinkedHashMap::new, Collectors.toList()));
        tables.put("all", trials);
        StringBuilder text = new StringBuilder();
        tables.forEach((table, its) -> text.append(
                        plan(table, its.stream().map(Trial::label).distinct().count(), seconds(its)))
                .append('\n'));
        return text.toString();
    }

    static String plan(String what, long figures, double seconds) {
        return String.format(Locale.ROOT, "%-20s %5d figures %6.1f minutes", what, figures, seconds / 60);
    }
}

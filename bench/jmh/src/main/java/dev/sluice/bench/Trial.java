package dev.sluice.bench;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * One figure to be measured, for a table.
 *
 * @param group those it is compared with, which are measured in turn with it, fork by fork; a figure that is in several
 *     groups is measured in each of them
 * @param benchmark simple class name and method
 */
record Trial(
        String table, String group, String benchmark, Map<String, String> params, List<String> jvmArgs, Effort effort) {
    Trial quick() {
        return new Trial(table, group, benchmark, params, jvmArgs, Effort.FRINGE);
    }

    boolean decodes() {
        return benchmark.equals("PeerBenchmark.decode");
    }

    /** The same for all trials that measure the same figure. */
    String label() {
        return table + " " + benchmark.substring(benchmark.indexOf('.') + 1) + " " + String.join(" ", params.values());
    }

    static double seconds(List<Trial> trials) {
        return trials.stream().mapToDouble(trial -> trial.effort().seconds()).sum();
    }

    /** How many figures there are, and how long they take on an idle machine: a line per table and one for all of them. */
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

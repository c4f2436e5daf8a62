package dev.sluice.bench;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** How long a command is going to take on an idle machine. */
final class Plan {

    private Plan() {}

    /** A line per table and one for all of them. */
    static String of(List<Trial> trials) {
        Map<String, Set<String>> figures = new LinkedHashMap<>();
        Map<String, Double> seconds = new LinkedHashMap<>();
        for (Trial trial : trials) {
            String table = trial.table().replaceFirst(":.*", "");
            figures.computeIfAbsent(table, name -> new HashSet<>()).add(trial.label());
            seconds.merge(table, trial.effort().seconds(), Double::sum);
        }
        StringBuilder text = new StringBuilder();
        int all = 0;
        for (Map.Entry<String, Set<String>> table : figures.entrySet()) {
            int count = table.getValue().size();
            all += count;
            text.append(line(table.getKey(), count, seconds.get(table.getKey())))
                    .append('\n');
        }
        return text.append(line("all", all, seconds(trials))).toString();
    }

    static double seconds(List<Trial> trials) {
        return trials.stream().mapToDouble(trial -> trial.effort().seconds()).sum();
    }

    static String line(String what, int figures, double seconds) {
        return String.format(Locale.ROOT, "%-20s %5d figures %6.1f minutes", what, figures, seconds / 60);
    }
}

package dev.sluice.bench;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** How long a command is going to take on an idle machine. */
final class Plan {

    private Plan() {}

    /** A line per table and one for all of them. */
    static String of(List<Trial> trials) {
        Map<String, Integer> counts = new LinkedHashMap<>();
        Map<String, Double> seconds = new LinkedHashMap<>();
        for (Trial trial : trials) {
            String table = trial.table().replaceFirst(":.*", "");
            counts.merge(table, 1, Integer::sum);
            seconds.merge(table, trial.effort().seconds(), Double::sum);
        }
        StringBuilder text = new StringBuilder();
        counts.forEach((table, count) ->
                text.append(line(table, count, seconds.get(table))).append('\n'));
        return text.append(line("all", trials.size(), seconds(trials))).toString();
    }

    static double seconds(List<Trial> trials) {
        return trials.stream().mapToDouble(trial -> trial.effort().seconds()).sum();
    }

    static String line(String what, int figures, double seconds) {
        return String.format(Locale.ROOT, "%-20s %5d figures %6.1f minutes", what, figures, seconds / 60);
    }
}

package dev.sluice.bench;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** How long a command is going to take on an idle machine. */
final class Plan {
    private Plan() {}

    /** A line per table and one for all of them. */
    static String of(List<Trial> trials) {
        Map<String, List<Trial>> tables = trials.stream()
                .collect(Collectors.groupingBy(
                        trial -> trial.table().replaceFirst(":.*", ""), LinkedHashMap::new, Collectors.toList()));
        tables.put("all", trials);
        StringBuilder text = new StringBuilder();
        tables.forEach((table, its) -> text.append(
                        line(table, its.stream().map(Trial::label).distinct().count(), seconds(its)))
                .append('\n'));
        return text.toString();
    }

    static double seconds(List<Trial> trials) {
        return trials.stream().mapToDouble(trial -> trial.effort().seconds()).sum();
    }

    static String line(String what, long figures, double seconds) {
        return String.format(Locale.ROOT, "%-20s %5d figures %6.1f minutes", what, figures, seconds / 60);
    }
}

package dev.sluice.bench;

import dev.sluice.bench.report.Row;
import dev.sluice.bench.report.Run;
import dev.sluice.bench.report.Tables;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What of a recorded run is to be measured again because the machine was disturbed, or because what is measured has changed.
 * Always whole groups, whose old figures all give way to the new ones whatever they are: figures that are compared stem from
 * the same minutes, and none is chosen for being better.
 *
 * @param name of the group
 * @param trials all of the group
 * @param noise the greatest relative error of those measured by several forks; infinite where an error is not known
 */
record Disturbed(String name, List<Trial> trials, double noise) {

    /**
     * The most disturbed groups that can be measured again in so many minutes, in the order of the suite.
     *
     * @param only where given, all groups with a row whose label contains a match, and no others
     */
    static List<Disturbed> in(Run recorded, List<Trial> trials, @Nullable Pattern only, double minutes) {
        List<Disturbed> all = new ArrayList<>();
        for (List<Trial> group : groups(trials)) {
            double noise = group.stream()
                    .filter(trial -> trial.effort().forks() > 1)
                    .flatMap(trial -> recorded.rows().stream().filter(row -> isOf(trial, row)))
                    .mapToDouble(Disturbed::errorOf)
                    .max()
                    .orElse(0);
            all.add(new Disturbed(group.get(0).group(), group, noise));
        }
        List<Disturbed> chosen = new ArrayList<>();
        double left = minutes * 60;
        for (Disturbed group : all.stream()
                .filter(group -> only == null ? group.noise() > Tables.NOISY : group.contains(only))
                .sorted(Comparator.comparingDouble(Disturbed::noise).reversed())
                .toList()) {
            double seconds = Plan.seconds(group.trials());
            if (seconds <= left) {
                left -= seconds;
                chosen.add(group);
            }
        }
        chosen.sort(Comparator.comparingInt(all::indexOf));
        return chosen;
    }

    /** The run with the new figures in the place of the old ones. */
    static Run replaced(Run recorded, List<Disturbed> groups, Run now) {
        Map<String, Row> figures = new LinkedHashMap<>();
        recorded.rows().forEach(row -> figures.put(row.key(), row));
        now.rows().forEach(row -> figures.put(row.key(), row));
        Map<String, String> again = new TreeMap<>(recorded.again());
        groups.forEach(group -> again.put(group.name(), now.date()));
        return new Run(
                recorded.command(),
                recorded.date(),
                recorded.machine(),
                recorded.jvm(),
                recorded.versions(),
                recorded.jvmArgs(),
                List.copyOf(figures.values()),
                recorded.seconds() + now.seconds(),
                again);
    }

    private boolean contains(Pattern label) {
        return trials.stream().anyMatch(trial -> label.matcher(trial.label()).find());
    }

    /** Those that share a figure are one. */
    private static Collection<List<Trial>> groups(List<Trial> trials) {
        Map<String, String> groupOfFigure = new LinkedHashMap<>();
        Map<String, String> joined = new LinkedHashMap<>();
        for (Trial trial : trials) {
            String first = groupOfFigure.putIfAbsent(trial.label(), trial.group());
            if (first != null) {
                joined.put(trial.group(), joined.getOrDefault(first, first));
            }
        }
        return trials.stream()
                .collect(Collectors.groupingBy(
                        trial -> joined.getOrDefault(trial.group(), trial.group()),
                        LinkedHashMap::new,
                        Collectors.toList()))
                .values();
    }

    private static double errorOf(Row row) {
        if (row.score() == null) {
            return row.failed() ? Double.POSITIVE_INFINITY : 0;
        }
        return row.error() == null ? Double.POSITIVE_INFINITY : row.relativeError();
    }

    private static boolean isOf(Trial trial, Row row) {
        return trial.table().equals(row.table())
                && trial.benchmark().equals(row.benchmark())
                && trial.params().equals(row.params());
    }

    /** All figures of the groups. */
    static List<Trial> trials(List<Disturbed> groups) {
        return groups.stream().flatMap(group -> group.trials().stream()).toList();
    }
}

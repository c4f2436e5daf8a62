package dev.sluice.bench;

import dev.sluice.bench.peer.PeerKind;
import dev.sluice.testkit.TextTable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The figures that each command measures, read from {@code suite.txt}. The file describes its format. */
final class Suite {
    static final int OWN_CUT = 0;
    static final int CHUNK = 8 * 1024;

    private static final Pattern VARIABLE = Pattern.compile("\\$([a-z]+)");

    /** For each command, a pattern for the labels that a quick run measures. */
    private static final Map<String, String> QUICK = Map.of(
            "levels",
            "(big|high) .*(DISABLED|PARANOID)|leak-settings.*ADVANCED",
            "peers",
            "^main \\S+ (sluice-(push|pull|form|servlet|handler)|netty42-(dropped|kept)|jetty|fileupload2) (random-16m|fields-100|form) "
                    + "|^floors .*random-16m|^chunks .* 65536 heap",
            "crates",
            "random-(16|1)m .*",
            "writers",
            "^write write (sluice|okhttp|httpclient5|netty|bytes) |^relay|^heads .* 64",
            "buffers",
            "^text .*UTF-8 .* 64|^scans .*data|^access (readBytes|getLongs|oncePerChunk) (heap|direct) (on|off)");

    private Suite() {}

    static List<Trial> of(String command, boolean quick) {
        List<Trial> trials = new ArrayList<>();
        String table = String.join("\n", TextTable.lines("/dev/sluice/bench/suite.txt"));
        for (String section : table.substring(1).split("\n\\[")) {
            String[] lines = section.split("]?\n");
            String[] head = lines[0].split(" \\| ", -1);
            if (head[0].equals(command)) {
                for (Map<String, String> values : combinations(head[2])) {
                    for (String line : Arrays.asList(lines).subList(1, lines.length)) {
                        add(
                                trials,
                                filled(head[1], values),
                                filled(line, values).split(" \\| "));
                    }
                }
            }
        }
        if (quick) {
            Pattern few = Pattern.compile(QUICK.get(command));
            trials.removeIf(trial -> !few.matcher(trial.label()).find());
            trials.replaceAll(Trial::quick);
        }
        return trials;
    }

    /** Returns the trials of a command by group, in order. */
    static Collection<List<Trial>> groups(String command) {
        return of(command, false).stream()
                .collect(Collectors.groupingBy(Trial::group, LinkedHashMap::new, Collectors.toList()))
                .values();
    }

    static List<Trial> matching(List<Trial> trials, Pattern label) {
        return trials.stream()
                .filter(trial -> label.matcher(trial.label()).find())
                .toList();
    }

    /**
     * Returns the groups that contain a matching label. Groups are always measured as a whole, because figures that are compared must be
     * measured at about the same time. Groups that share a figure are measured together.
     */
    static List<Trial> groupsWith(List<Trial> trials, Pattern label) {
        Set<String> groups = new HashSet<>();
        matching(trials, label).forEach(trial -> groups.add(trial.group()));
        Predicate<Trial> in = trial -> groups.contains(trial.group());
        for (int before = -1; before < groups.size(); ) {
            before = groups.size();
            Set<String> figures = trials.stream().filter(in).map(Trial::label).collect(Collectors.toSet());
            trials.stream()
                    .filter(trial -> figures.contains(trial.label()))
                    .forEach(trial -> groups.add(trial.group()));
        }
        return trials.stream().filter(in).toList();
    }

    private static void add(List<Trial> trials, String group, String[] line) {
        String[] table = line[0].split(" if | is ");
        if (table.length > 1 && !table[1].equals(table[2])) {
            return;
        }
        String[] methods = line[1].split("[.,]");
        for (Map<String, String> params : combinations(line[3])) {
            PeerKind peer = params.containsKey("peer") ? PeerKind.of(params.get("peer")) : null;
            boolean here = peer == null
                    || peer.runsHere()
                            && (peer.takesDirect || !params.get("memory").equals("direct"));
            List<String> args = new ArrayList<>(peer == null ? List.of() : peer.jvmArgs());
            args.addAll(line.length > 4 ? List.of(line[4].split(" ")) : List.of());
            for (int i = 1; here && i < methods.length; i++) {
                String benchmark = methods[0] + "." + methods[i];
                trials.add(
                        new Trial(table[0], filled(group, params), benchmark, params, args, Effort.valueOf(line[2])));
            }
        }
    }

    /** Replaces variables. Variables without a value are left unchanged. */
    private static String filled(String text, Map<String, String> values) {
        return VARIABLE.matcher(text)
                .replaceAll(found -> Matcher.quoteReplacement(values.getOrDefault(found.group(1), found.group())));
    }

    /** Parses {@code name=value name=value} and keeps the order. */
    static Map<String, String> params(String format, Object... values) {
        return combinations(format.formatted(values)).get(0);
    }

    /** Returns all combinations of {@code name=value,value name=value,value}. */
    private static List<Map<String, String>> combinations(String params) {
        List<Map<String, String>> all = List.of(Map.of());
        for (String param : params.isEmpty() ? new String[0] : params.split(" ")) {
            String[] words = param.split("[=,]");
            List<Map<String, String>> longer = new ArrayList<>();
            for (Map<String, String> each : all) {
                for (String value : Arrays.asList(words).subList(1, words.length)) {
                    Map<String, String> with = new LinkedHashMap<>(each);
                    with.put(words[0], value);
                    longer.add(with);
                }
            }
            all = longer;
        }
        return all;
    }
}

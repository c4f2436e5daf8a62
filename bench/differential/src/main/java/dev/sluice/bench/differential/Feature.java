package dev.sluice.bench.differential;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import dev.sluice.testkit.TextTable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * A property of a body that can cause a disagreement and can be removed without changing the rest. If a disagreement disappears when the
 * feature is removed, the feature is its cause. {@code features.txt} lists the features in the order in which they are tried.
 */
final class Feature implements Comparable<Feature> {
    private static final Map<String, Feature> TABLE = new LinkedHashMap<>();

    static {
        for (String line : TextTable.lines("/dev/sluice/bench/differential/features.txt")) {
            String[] words = line.split(" \\| ");
            TABLE.put(words[0], new Feature(TABLE.size(), words));
        }
    }

    static final Feature UNKNOWN = of("UNKNOWN");

    @JsonValue
    final String name;

    final String title;
    /** Whether removing the feature changes so much that it is tried only if no other feature is the cause. */
    final boolean general;

    private final int order;
    private final String place;
    private final List<Replacement> replacements = new ArrayList<>();

    private record Replacement(Pattern search, String instead) {}

    private Feature(int order, String[] words) {
        this.order = order;
        this.name = words[0];
        this.title = words[1];
        this.general = words[2].startsWith("general ");
        this.place = words[2].replace("general ", "");
        for (int i = 3; i < words.length; i += 2) {
            String instead = i + 1 < words.length ? TextTable.unescaped(words[i + 1]) : "";
            replacements.add(new Replacement(Pattern.compile(words[i]), instead));
        }
    }

    @JsonCreator
    static Feature of(String name) {
        return TABLE.get(name);
    }

    static List<Feature> all() {
        return List.copyOf(TABLE.values());
    }

    void removeFrom(Anatomy body) {
        switch (place) {
            case "lead" -> body.lead = replaced(body.lead);
            case "parts" -> body.needPart();
            case "type" -> body.plainContentType();
            case "boundary" -> body.plainBoundary();
            case "field" -> body.changeFields(this::replaced);
            case "order" -> body.sortFields();
            case "disposition" -> body.changeDispositions(this::replaced);
            case "parameter" -> body.changeParameters(this::replaced);
            case "parameter case" -> body.lowerParameters();
            case "value" -> body.changeValues("(?:file)?name", this::replaced);
            case "name", "filename" -> body.changeValues(place, this::replaced);
            case "content" -> body.changeContents(this::replaced);
            case "dash-boundary" -> body.maskDashBoundary();
            case "tail" -> body.tail = replaced(body.tail);
            case "nowhere" -> {}
            default -> throw new IllegalArgumentException(place);
        }
    }

    private String replaced(String text) {
        String left = text;
        for (Replacement each : replacements) {
            left = each.search.matcher(left).replaceAll(each.instead);
        }
        return left;
    }

    @Override
    public int compareTo(Feature other) {
        return Integer.compare(order, other.order);
    }

    @Override
    public String toString() {
        return name;
    }
}

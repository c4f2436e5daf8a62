package dev.sluice.bench.report;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Rows of results as a Markdown table: one line per line key, one column per column key, in the order they come. */
final class Pivot {
    private final Function<Row, String> line;
    private final Function<Row, String> column;
    private final Map<String, Map<String, Row>> cells = new LinkedHashMap<>();
    private final Set<String> columns = new LinkedHashSet<>();

    Pivot(Collection<Row> rows, Function<Row, String> line, Function<Row, String> column) {
        this.line = line;
        this.column = column;
        rows.forEach(this::add);
    }

    private void add(Row row) {
        columns.add(column.apply(row));
        cells.computeIfAbsent(line.apply(row), key -> new LinkedHashMap<>()).put(column.apply(row), row);
    }

    @Nullable
    Row at(String lineKey, String columnKey) {
        return cells.getOrDefault(lineKey, Map.of()).get(columnKey);
    }

    /** @param head title of the first column */
    String markdown(String head, Function<Row, String> cell) {
        StringBuilder text = new StringBuilder("| " + head + " |");
        columns.forEach(name -> text.append(' ').append(name).append(" |"));
        text.append("\n|---|").append("---:|".repeat(columns.size())).append('\n');
        cells.forEach((lineKey, row) -> {
            text.append("| ").append(lineKey).append(" |");
            for (String name : columns) {
                Row found = row.get(name);
                text.append(' ').append(found == null ? "" : cell.apply(found)).append(" |");
            }
            text.append('\n');
        });
        return text.toString();
    }
}

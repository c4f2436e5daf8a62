package dev.sluice.bench.report;

import java.util.Map;
import java.util.Optional;

/** Picks a row by table, benchmark and parameters. */
record Pick(String table, String benchmark, Map<String, String> params) {

    static Pick decode(String table, String peer, String scenario, String chunk, String memory) {
        return new Pick(
                table,
                "PeerBenchmark.decode",
                Map.of("peer", peer, "scenario", scenario, "chunk", chunk, "memory", memory));
    }

    static Pick main(String peer, String scenario, String memory) {
        return decode("main", peer, scenario, "8192", memory);
    }

    static Pick level(String peer, String scenario, String memory, String level) {
        return new Pick(
                "levels",
                "PeerBenchmark.decode",
                Map.of("peer", peer, "scenario", scenario, "memory", memory, "level", level));
    }

    static Pick floor(String way, String scenario, String memory) {
        return new Pick("floors", "FloorBenchmark." + way, Map.of("scenario", scenario, "memory", memory));
    }

    static Pick records(String peer, String scenario) {
        return new Pick("records", "LeakRecords.count", Map.of("peer", peer, "scenario", scenario));
    }

    /** One server under one connection with the benchmark's own sender. */
    static Pick endToEnd(String metric, String server, String scenario) {
        return new Pick("endtoend", "EndToEnd." + metric, Map.of("server", server, "scenario", scenario));
    }

    boolean matches(Row row) {
        return row.table().equals(table)
                && row.benchmark().equals(benchmark)
                && params.entrySet().stream()
                        .allMatch(p -> row.param(p.getKey()).equals(p.getValue()));
    }

    /** {@return the first row picked that has a figure, and not of a parser whose result was wrong} */
    Optional<Row> in(Run run) {
        return run.rows().stream()
                .filter(row -> matches(row) && row.score() != null && !row.wrong())
                .findFirst();
    }

    /** Whether the row picked is there, of a parser whose result was wrong. */
    boolean wrongIn(Run run) {
        return run.rows().stream().anyMatch(row -> matches(row) && row.wrong());
    }
}

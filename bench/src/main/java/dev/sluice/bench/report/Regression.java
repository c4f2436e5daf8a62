package dev.sluice.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Whether Sluice has become slower on one body, judged by the ratios of its time to those of peers, now and in a recorded
 * run. The least CPU times of an iteration are compared: they depend least on what else the machine is doing.
 *
 * @param what the body, its cut and its memory
 * @param growths one for each peer
 * @param factor up to which a ratio may have grown
 */
public record Regression(String what, List<Growth> growths, double factor) {

    private static final String SLUICE = "sluice-push";

    /**
     * A ratio to a peer.
     *
     * @param before Sluice's time / the peer's in the recorded run
     * @param now the same in the new one
     */
    public record Growth(String peer, double before, double now) {

        double factor() {
            return now / before;
        }

        @Override
        public String toString() {
            return String.format(Locale.ROOT, "%.3f -> %.3f of %s (x %.2f)", before, now, peer, factor());
        }
    }

    /** Only what is slower beside every peer is: beside one alone it may be the peer that was lucky. */
    public boolean isThere() {
        return growths.stream().allMatch(growth -> growth.factor() > factor);
    }

    /** One for each body that both runs have with Sluice's push decoder and a peer. */
    public static List<Regression> between(List<Row> recorded, List<Row> now, double factor) {
        Map<String, Map<String, Row>> old = byBody(recorded);
        List<Regression> regressions = new ArrayList<>();
        byBody(now).forEach((what, rows) -> {
            List<Growth> growths = new ArrayList<>();
            Map<String, Row> before = old.getOrDefault(what, Map.of());
            for (String peer : rows.keySet()) {
                Double ratioBefore = ratio(before, peer);
                Double ratioNow = ratio(rows, peer);
                if (!peer.equals(SLUICE) && ratioBefore != null && ratioNow != null) {
                    growths.add(new Growth(peer, ratioBefore, ratioNow));
                }
            }
            if (!growths.isEmpty()) {
                regressions.add(new Regression(what, growths, factor));
            }
        });
        return regressions;
    }

    private static @Nullable Double ratio(Map<String, Row> rows, String peer) {
        Row sluice = rows.get(SLUICE);
        Row other = rows.get(peer);
        if (sluice == null || other == null || sluice.cpu() == null || other.cpu() == null) {
            return null;
        }
        return sluice.cpu() / other.cpu();
    }

    private static Map<String, Map<String, Row>> byBody(List<Row> rows) {
        Map<String, Map<String, Row>> bodies = new LinkedHashMap<>();
        for (Row row : rows) {
            Map<String, String> params = new TreeMap<>(row.params());
            params.remove("peer");
            bodies.computeIfAbsent(String.join(", ", params.values()), key -> new LinkedHashMap<>())
                    .put(row.param("peer"), row);
        }
        return bodies;
    }

    @Override
    public String toString() {
        return (isThere() ? "SLOWER " : "ok     ") + what + ": "
                + String.join(", ", growths.stream().map(Growth::toString).toList());
    }
}

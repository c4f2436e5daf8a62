package dev.sluice.bench;

import dev.sluice.bench.peer.Body;
import dev.sluice.bench.peer.Memory;
import dev.sluice.bench.peer.NettyIsland;
import dev.sluice.bench.peer.Peer;
import dev.sluice.bench.peer.Scenario;
import dev.sluice.bench.peer.Tally;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * The number of records that Netty's leak detector keeps for one decode at level PARANOID. Netty 4.1 is not included,
 * because the method that its leak detector uses to track a buffer cannot be overridden.
 */
final class LeakRecords {
    static final List<Scenario> WORKLOADS =
            List.of(Scenario.NETTY_BIG, Scenario.NETTY_HIGH, Scenario.FIELDS_100, Scenario.RANDOM_16M);

    private static final List<String> PEERS =
            List.of("sluice-push", "netty42-kept", "netty42-dropped", "netty-contrib", "chunks-only");

    private LeakRecords() {}

    static List<Row> count(List<Scenario> workloads) throws Exception {
        List<Row> rows = new ArrayList<>();
        for (Scenario workload : workloads) {
            Body body = workload.body();
            int chunk = workload.name().startsWith("NETTY") ? Suite.OWN_CUT : Suite.CHUNK;
            long parts = body.truth().parts();
            for (String peer : PEERS) {
                double records = count(peer, body, chunk);
                Map<String, String> params =
                        Suite.params("peer=%s scenario=%s memory=pooled-each", peer, workload.id());
                double chunks = body.cut(chunk).size();
                String format = "%.1f per chunk, %.1f per part";
                String note = String.format(Locale.ROOT, format, records / chunks, records / parts);
                rows.add(Row.counted("records", "LeakRecords.count", params, records, body.size(), parts, note));
            }
        }
        return rows;
    }

    private static long count(String decoder, Body body, int chunk) throws Exception {
        NettyIsland island = NettyIsland.copyOf42();
        LongSupplier counter = island.countRecords();
        try (Peer peer = island.open(decoder, body, chunk, Memory.POOLED_EACH)) {
            // Filling a chunk also leaves a record. All decoders have this record, and so does the control, which
            // decodes nothing.
            peer.run(Tally.counting());
            long before = counter.getAsLong();
            peer.run(Tally.counting());
            return counter.getAsLong() - before;
        }
    }
}

package dev.sluice.bench;

import dev.sluice.bench.body.Body;
import dev.sluice.bench.body.Scenario;
import dev.sluice.bench.peer.Memory;
import dev.sluice.bench.peer.NettyIsland;
import dev.sluice.bench.peer.Peer;
import dev.sluice.bench.peer.Tally;
import dev.sluice.bench.report.Row;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * How many leak records one decode makes at PARANOID: counted, not measured. Without netty 4.1, whose leak detector does not let
 * itself be overridden where it tracks a buffer.
 */
final class LeakRecords {

    private record Decoder(String peer, String adapter, String method) {}

    private static final List<Decoder> DECODERS = List.of(
            new Decoder("sluice-push", "SluicePushPeer", "new"),
            new Decoder("netty42-kept", "NettyPeer", "keeping"),
            new Decoder("netty42-dropped", "NettyPeer", "dropping"),
            new Decoder("netty-contrib", "ContribPeer", "new"),
            new Decoder("chunks-only", "ChunksOnly", "new"));

    private LeakRecords() {}

    static List<Row> count() throws Exception {
        return count(List.of(Scenario.NETTY_BIG, Scenario.NETTY_HIGH, Scenario.FIELDS_100, Scenario.RANDOM_16M));
    }

    static List<Row> count(List<Scenario> workloads) throws Exception {
        List<Row> rows = new ArrayList<>();
        for (Scenario workload : workloads) {
            Body body = workload.body();
            int chunk = workload.name().startsWith("NETTY") ? Suite.OWN_CUT : Suite.CHUNK;
            for (Decoder decoder : DECODERS) {
                long records = count(decoder, body, chunk);
                long chunks = body.cut(chunk).size();
                long parts = body.truth().parts();
                Map<String, String> params = new LinkedHashMap<>();
                params.put("peer", decoder.peer());
                params.put("scenario", workload.id());
                params.put("memory", Memory.POOLED_EACH.id());
                String note = String.format(
                        Locale.ROOT,
                        "%.1f per chunk, %.1f per part",
                        records / (double) chunks,
                        records / (double) parts);
                rows.add(new Row(
                        "records",
                        "LeakRecords.count",
                        params,
                        "records",
                        (double) records,
                        0.0,
                        null,
                        null,
                        1,
                        null,
                        body.size(),
                        parts,
                        note));
            }
        }
        return rows;
    }

    private static long count(Decoder decoder, Body body, int chunk) throws Exception {
        try (NettyIsland island = NettyIsland.copyOf42()) {
            LongSupplier counter = island.countRecords();
            try (Peer peer = island.open(decoder.adapter(), decoder.method(), body, chunk, Memory.POOLED_EACH)) {
                // Filling a chunk is a record too; it is the same for all and shows in the row of the control.
                peer.run(Tally.counting());
                long before = counter.getAsLong();
                peer.run(Tally.counting());
                return counter.getAsLong() - before;
            }
        }
    }
}

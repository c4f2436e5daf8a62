package dev.sluice.bench;

import dev.sluice.bench.body.Scenario;
import dev.sluice.bench.peer.Memory;
import dev.sluice.bench.peer.PeerKind;
import dev.sluice.bench.pool.Allocators;
import dev.sluice.bench.pool.Threads;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Which figures each command measures. */
final class Suite {

    static final int OWN_CUT = 0;
    static final int WHOLE = Integer.MAX_VALUE;
    static final int CHUNK = 8 * 1024;
    private static final List<String> LEVELS = List.of("DISABLED", "SIMPLE", "ADVANCED", "PARANOID");
    private static final List<PeerKind> LEVEL_PEERS =
            List.of(PeerKind.SLUICE_PUSH, PeerKind.NETTY42_KEPT, PeerKind.NETTY41_KEPT, PeerKind.NETTY_CONTRIB);

    private final boolean quick;
    private final List<Trial> trials = new ArrayList<>();

    private Suite(boolean quick) {
        this.quick = quick;
    }

    /** Leak-detection levels. */
    static List<Trial> levels(boolean quick) {
        Suite suite = new Suite(quick);
        List<Scenario> workloads = quick
                ? List.of(Scenario.NETTY_BIG, Scenario.NETTY_HIGH)
                : List.of(Scenario.NETTY_BIG, Scenario.NETTY_HIGH, Scenario.NETTY_BIG_LF, Scenario.NETTY_HIGH_LF);
        List<String> levels = quick ? List.of("DISABLED", "PARANOID") : LEVELS;
        for (Scenario workload : workloads) {
            boolean lf = workload == Scenario.NETTY_BIG_LF || workload == Scenario.NETTY_HIGH_LF;
            for (Memory memory : lf ? List.of(Memory.WRAPPED_EACH) : List.of(Memory.WRAPPED_EACH, Memory.POOLED_EACH)) {
                for (String level : levels) {
                    for (PeerKind peer : LEVEL_PEERS) {
                        suite.level("levels", peer, workload, memory, level, List.of());
                    }
                    suite.level("levels", PeerKind.CHUNKS_ONLY, workload, memory, level, List.of());
                }
            }
        }
        suite.leakSettings();
        return suite.trials;
    }

    private void leakSettings() {
        Map<String, List<String>> settings = new LinkedHashMap<>();
        settings.put("defaults", List.of());
        settings.put("targetRecords=0", List.of("-Dio.netty.leakDetection.targetRecords=0"));
        settings.put("targetRecords=40", List.of("-Dio.netty.leakDetection.targetRecords=40"));
        settings.put("samplingInterval=1", List.of("-Dio.netty.leakDetection.samplingInterval=1"));
        settings.put("samplingInterval=8", List.of("-Dio.netty.leakDetection.samplingInterval=8"));
        settings.put("acquireAndReleaseOnly", List.of("-Dio.netty.leakDetection.acquireAndReleaseOnly=true"));
        settings.forEach((name, args) -> {
            // At PARANOID every buffer is a sample, and at SIMPLE no calls are recorded.
            List<String> levels = name.startsWith("samplingInterval")
                    ? List.of("SIMPLE", "ADVANCED")
                    : name.equals("defaults")
                            ? List.of("SIMPLE", "ADVANCED", "PARANOID")
                            : List.of("ADVANCED", "PARANOID");
            for (String level : levels) {
                if (quick && level.equals("SIMPLE")) {
                    continue;
                }
                for (PeerKind peer : List.of(PeerKind.SLUICE_PUSH, PeerKind.NETTY42_KEPT, PeerKind.CHUNKS_ONLY)) {
                    level("leak-settings: " + name, peer, Scenario.NETTY_HIGH, Memory.POOLED_EACH, level, args);
                }
            }
        });
    }

    /** Every parser on every body, then chunk sizes, body sizes and floors. */
    static List<Trial> peers(boolean quick) {
        Suite suite = new Suite(quick);
        if (quick) {
            suite.quickPeers();
            return suite.trials;
        }
        for (Scenario scenario : List.of(
                Scenario.RANDOM_16M,
                Scenario.CSV_16M,
                Scenario.FIELDS_100,
                Scenario.FORM,
                Scenario.PARTS_1000,
                Scenario.PHOTOS_20)) {
            suite.everyPeer("main", scenario, CHUNK, Effort.MAIN);
        }
        for (Scenario scenario : List.of(Scenario.RANDOM_16M, Scenario.CSV_16M)) {
            suite.floors(scenario);
        }
        suite.chunks();
        suite.sizes();
        for (Scenario scenario : Scenario.values()) {
            if (scenario.ordinal() >= Scenario.ALL_CR.ordinal()
                    && scenario.ordinal() <= Scenario.SKIP_TABLE.ordinal()) {
                suite.everyPeer("adversarial", scenario, CHUNK, Effort.FRINGE);
            }
            if (scenario.ordinal() >= Scenario.JUNK.ordinal()
                    && scenario.ordinal() <= Scenario.DEFNULL_BCHAR.ordinal()) {
                suite.everyPeer("defnull", scenario, CHUNK, Effort.FRINGE);
            }
        }
        return suite.trials;
    }

    /** A few bodies, each with Sluice and the peers it is judged by, one after the other. */
    static List<List<Trial>> guard() {
        List<List<Trial>> bodies = new ArrayList<>();
        bodies.add(guarded(Scenario.RANDOM_16M, CHUNK, Memory.HEAP));
        bodies.add(guarded(Scenario.RANDOM_16M, CHUNK, Memory.DIRECT));
        bodies.add(guarded(Scenario.CSV_16M, CHUNK, Memory.HEAP));
        bodies.add(guarded(Scenario.NEAR_BOUNDARIES, CHUNK, Memory.HEAP));
        bodies.add(guarded(Scenario.FIELDS_100, CHUNK, Memory.HEAP));
        bodies.add(guarded(Scenario.FORM, CHUNK, Memory.DIRECT));
        bodies.add(guarded(Scenario.PARTS_1000, CHUNK, Memory.HEAP));
        bodies.add(guarded(Scenario.RANDOM_64K, 64, Memory.HEAP));
        return bodies;
    }

    private static List<Trial> guarded(Scenario scenario, int chunk, Memory memory) {
        Suite suite = new Suite(false);
        for (PeerKind peer : List.of(PeerKind.SLUICE_PUSH, PeerKind.NETTY42_DROPPED, PeerKind.JETTY)) {
            suite.decode("guard", peer, scenario, chunk, memory, Effort.QUICK);
        }
        return suite.trials;
    }

    private void quickPeers() {
        List<PeerKind> few = List.of(
                PeerKind.SLUICE_PUSH,
                PeerKind.SLUICE_PULL,
                PeerKind.SLUICE_SERVLET,
                PeerKind.NETTY42_DROPPED,
                PeerKind.NETTY42_KEPT,
                PeerKind.JETTY,
                PeerKind.FILEUPLOAD2);
        for (Scenario scenario : List.of(Scenario.RANDOM_16M, Scenario.FIELDS_100, Scenario.FORM)) {
            for (PeerKind peer : few) {
                decode("main", peer, scenario, CHUNK, Memory.HEAP, Effort.MAIN);
                if (peer.takesDirect()) {
                    decode("main", peer, scenario, CHUNK, Memory.DIRECT, Effort.MAIN);
                }
            }
        }
        for (PeerKind peer : List.of(PeerKind.SLUICE_PUSH, PeerKind.NETTY42_DROPPED, PeerKind.FILEUPLOAD2)) {
            decode("chunks", peer, Scenario.RANDOM_16M, 64 * 1024, Memory.HEAP, Effort.WIDE);
            if (peer.takesDirect()) {
                decode("chunks", peer, Scenario.RANDOM_16M, 64 * 1024, Memory.DIRECT, Effort.WIDE);
            }
        }
        floors(Scenario.RANDOM_16M);
    }

    private void everyPeer(String table, Scenario scenario, int chunk, Effort effort) {
        for (PeerKind peer : PeerKind.parsers()) {
            boolean alike = peer == PeerKind.NETTY42_KEPT
                    || peer == PeerKind.NETTY41_KEPT
                    || peer == PeerKind.NETTY41_DROPPED
                    || peer == PeerKind.SLUICE_SERVLET;
            if (alike && !table.equals("main")) {
                continue;
            }
            decode(table, peer, scenario, chunk, Memory.HEAP, effort);
            if (peer.isSluice() && peer.takesDirect()
                    || (peer.takesDirect() && table.equals("main") && peer != PeerKind.SPRING)) {
                decode(table, peer, scenario, chunk, Memory.DIRECT, effort);
            }
        }
    }

    private void chunks() {
        List<PeerKind> peers = List.of(
                PeerKind.SLUICE_PUSH,
                PeerKind.SLUICE_PULL,
                PeerKind.NETTY42_DROPPED,
                PeerKind.JETTY,
                PeerKind.UNDERTOW,
                PeerKind.FILEUPLOAD2);
        for (int chunk : new int[] {1, 17, 64, 1460, CHUNK, 64 * 1024, WHOLE}) {
            for (PeerKind peer : peers) {
                // Tiny chunks of a big body would measure only how long the list of chunks is.
                Scenario scenario = chunk < 1460 ? Scenario.RANDOM_64K : Scenario.RANDOM_16M;
                decode("chunks", peer, scenario, chunk, Memory.HEAP, Effort.WIDE);
                if (peer.takesDirect() && peer != PeerKind.JETTY) {
                    decode("chunks", peer, scenario, chunk, Memory.DIRECT, Effort.WIDE);
                }
            }
        }
        for (PeerKind peer : List.of(PeerKind.SLUICE_PUSH, PeerKind.NETTY42_DROPPED, PeerKind.JETTY)) {
            decode("chunks", peer, Scenario.FIELDS_AND_FILE, WHOLE, Memory.HEAP, Effort.WIDE);
            decode("chunks", peer, Scenario.FIELDS_AND_FILE, CHUNK, Memory.HEAP, Effort.WIDE);
        }
    }

    private void sizes() {
        for (Scenario scenario : List.of(Scenario.RANDOM_1M, Scenario.RANDOM_64M, Scenario.RANDOM_1G)) {
            for (PeerKind peer : List.of(PeerKind.SLUICE_PUSH, PeerKind.NETTY42_DROPPED, PeerKind.JETTY)) {
                decode("sizes", peer, scenario, CHUNK, Memory.HEAP, Effort.MAIN);
            }
        }
    }

    private void floors(Scenario scenario) {
        for (Memory memory : List.of(Memory.HEAP, Memory.DIRECT)) {
            for (String floor : List.of("readWords", "searchDelimiter", "bytesBefore", "copy")) {
                Map<String, String> params = params("scenario", scenario.id(), "memory", memory.id());
                add(new Trial("floors", "FloorBenchmark." + floor, params, Effort.MAIN));
            }
        }
    }

    /** The work on buffers, old ways and new ways. */
    static List<Trial> buffers(boolean quick) {
        Suite suite = new Suite(quick);
        suite.text();
        suite.scans();
        suite.access();
        suite.allocation();
        return suite.trials;
    }

    private void text() {
        List<String> charsets = quick ? List.of("UTF-8") : List.of("US-ASCII", "UTF-8", "UTF-16", "ISO-8859-1");
        for (String charset : charsets) {
            for (String memory : List.of("heap", "direct")) {
                for (String size : quick ? List.of("64") : List.of("8", "64", "512")) {
                    for (String way : List.of("sluice", "nettyToString", "charBuffer")) {
                        Map<String, String> params = params("charset", charset, "memory", memory, "size", size);
                        add(new Trial("text", "TextBenchmark." + way, params, Effort.FRINGE));
                    }
                }
            }
        }
    }

    private void scans() {
        for (String content : quick ? List.of("data") : List.of("header", "data")) {
            for (String memory : List.of("heap", "direct")) {
                for (String way :
                        List.of("readByte", "byteProcessor", "bytesBefore", "chunkMemory", "delimiterSearch")) {
                    Map<String, String> params = params("content", content, "memory", memory);
                    add(new Trial("scans", "ScanBenchmark." + way, params, Effort.FRINGE));
                }
            }
        }
    }

    private void access() {
        String bounds = "-Dio.netty.buffer.checkBounds=false";
        String accessible = "-Dio.netty.buffer.checkAccessible=false";
        Map<String, List<String>> checks = new LinkedHashMap<>();
        checks.put("on", List.of());
        checks.put("bounds-off", List.of(bounds));
        checks.put("accessible-off", List.of(accessible));
        checks.put("off", List.of(bounds, accessible));
        if (quick) {
            checks.keySet().retainAll(List.of("on", "off"));
        }
        List<String> kinds = quick ? List.of("heap", "direct") : List.of("heap", "direct", "slice", "composite");
        checks.forEach((name, args) -> kinds.forEach(kind -> access(kind, name, args)));
        if (!quick) {
            access("direct-no-unsafe", "on", List.of("-Dio.netty.noUnsafe=true"));
            access("direct-no-unsafe", "off", List.of("-Dio.netty.noUnsafe=true", bounds, accessible));
        }
    }

    private void access(String kind, String checks, List<String> args) {
        for (String way : quick
                ? List.of("readBytes", "getLongs", "oncePerChunk")
                : List.of("readBytes", "getBytes", "getLongs", "setLongs", "oncePerChunk")) {
            Map<String, String> params = params("kind", kind, "checks", checks);
            add(new Trial("access", "AccessBenchmark." + way, params, args, Effort.FRINGE));
        }
    }

    private void allocation() {
        for (String allocator : quick ? List.of("pooled") : Allocators.NAMES) {
            for (String memory : List.of("heap", "direct")) {
                for (String size : quick ? List.of("8192") : List.of("64", "8192", "65536")) {
                    Map<String, String> params = params("allocator", allocator, "memory", memory, "size", size);
                    add(new Trial("allocation", "AllocationBenchmark.sameThread", params, Effort.FRINGE));
                    add(new Trial("allocation", "AllocationBenchmark.acrossThreads", params, Effort.FRINGE));
                }
                for (String threads : Threads.namesHere()) {
                    Map<String, String> params =
                            params("allocator", allocator, "memory", memory, "size", "8192", "threads", threads);
                    add(new Trial(
                            "short-lived threads", "AllocationBenchmark.shortLivedThread", params, Effort.FRINGE));
                }
            }
        }
    }

    private void level(
            String table, PeerKind peer, Scenario workload, Memory memory, String level, List<String> jvmArgs) {
        Map<String, String> params = params(
                "peer",
                peer.id(),
                "scenario",
                workload.id(),
                "chunk",
                Integer.toString(OWN_CUT),
                "memory",
                memory.id(),
                "level",
                level);
        boolean claimed = table.equals("levels") && (level.equals("DISABLED") || level.equals("PARANOID"));
        add(new Trial(table, "PeerBenchmark.decode", params, jvmArgs, claimed ? Effort.MAIN : Effort.FRINGE));
    }

    private void decode(String table, PeerKind peer, Scenario scenario, int chunk, Memory memory, Effort effort) {
        Map<String, String> params = params(
                "peer", peer.id(),
                "scenario", scenario.id(),
                "chunk", Integer.toString(chunk),
                "memory", memory.id());
        add(new Trial(table, "PeerBenchmark.decode", params, effort));
    }

    private void add(Trial trial) {
        trials.add(quick ? trial.with(Effort.QUICK) : trial);
    }

    private static Map<String, String> params(String... namesAndValues) {
        Map<String, String> params = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            params.put(namesAndValues[i], namesAndValues[i + 1]);
        }
        return params;
    }
}

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
import java.util.Set;

/** Which figures each command measures. */
final class Suite {

    static final int OWN_CUT = 0;
    static final int WHOLE = Integer.MAX_VALUE;
    static final int CHUNK = 8 * 1024;

    private static final List<String> LEVELS = List.of("DISABLED", "SIMPLE", "ADVANCED", "PARANOID");
    private static final List<String> ENDS_OF_LEVELS = List.of("DISABLED", "PARANOID");
    /** At every level with the same effort, because levels are divided by one another; here those that goals name. */
    private static final List<PeerKind> CLAIMED_AT_LEVELS =
            List.of(PeerKind.SLUICE_PUSH, PeerKind.NETTY42_KEPT, PeerKind.CHUNKS_ONLY);

    private static final List<PeerKind> OTHERS_AT_LEVELS =
            List.of(PeerKind.NETTY42_DROPPED, PeerKind.NETTY41_KEPT, PeerKind.NETTY_CONTRIB);
    private static final List<PeerKind> WITH_LF =
            List.of(PeerKind.SLUICE_PUSH, PeerKind.NETTY42_KEPT, PeerKind.NETTY_CONTRIB);

    /** The parsers that goals name: what is said about them must hold. */
    private static final Set<PeerKind> CLAIMED =
            Set.of(PeerKind.SLUICE_PUSH, PeerKind.NETTY42_DROPPED, PeerKind.NETTY42_UNSAFE, PeerKind.JETTY);
    /** Those that goals name on a body or two. */
    private static final Set<PeerKind> NAMED = Set.of(PeerKind.OKHTTP, PeerKind.NETTY_CONTRIB, PeerKind.UNDERTOW);

    /** Left out where all parsers are measured on bodies beside the main ones: too like to another that stays. */
    private static final Set<PeerKind> ALIKE = Set.of(
            PeerKind.NETTY42_KEPT,
            PeerKind.NETTY41_KEPT,
            PeerKind.NETTY41_DROPPED,
            PeerKind.SLUICE_PULL,
            PeerKind.SLUICE_SERVLET,
            PeerKind.FILEUPLOAD1,
            PeerKind.TOMCAT,
            PeerKind.SPRING_NETTY);

    private final boolean quick;
    private final List<Trial> trials = new ArrayList<>();
    /** Of the figures that are added next. */
    private String group = "";

    private Suite(boolean quick) {
        this.quick = quick;
    }

    /** Leak-detection levels. */
    static List<Trial> levels(boolean quick) {
        Suite suite = new Suite(quick);
        List<String> levels = quick ? ENDS_OF_LEVELS : LEVELS;
        for (Scenario workload : List.of(Scenario.NETTY_BIG, Scenario.NETTY_HIGH)) {
            for (Memory memory : List.of(Memory.WRAPPED_EACH, Memory.POOLED_EACH)) {
                suite.levels(workload, memory, levels, CLAIMED_AT_LEVELS, Effort.MAIN);
                suite.levels(workload, memory, levels, OTHERS_AT_LEVELS, Effort.WIDE);
            }
        }
        if (!quick) {
            for (Scenario workload : List.of(Scenario.NETTY_BIG_LF, Scenario.NETTY_HIGH_LF)) {
                suite.levels(workload, Memory.WRAPPED_EACH, ENDS_OF_LEVELS, WITH_LF, Effort.WIDE);
            }
        }
        suite.leakSettings();
        return suite.trials;
    }

    private void levels(Scenario workload, Memory memory, List<String> levels, List<PeerKind> peers, Effort effort) {
        group = "levels " + workload.id() + " " + memory.id();
        for (PeerKind peer : peers) {
            for (String level : levels) {
                level("levels", peer, workload, memory, level, List.of(), effort);
            }
        }
    }

    private void leakSettings() {
        Map<String, List<String>> settings = new LinkedHashMap<>();
        settings.put("defaults", List.of());
        settings.put("targetRecords=0", List.of("-Dio.netty.leakDetection.targetRecords=0"));
        settings.put("targetRecords=40", List.of("-Dio.netty.leakDetection.targetRecords=40"));
        settings.put("samplingInterval=1", List.of("-Dio.netty.leakDetection.samplingInterval=1"));
        settings.put("samplingInterval=8", List.of("-Dio.netty.leakDetection.samplingInterval=8"));
        settings.put("acquireAndReleaseOnly", List.of("-Dio.netty.leakDetection.acquireAndReleaseOnly=true"));
        group = "leak-settings";
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
                    level(
                            "leak-settings: " + name,
                            peer,
                            Scenario.NETTY_HIGH,
                            Memory.POOLED_EACH,
                            level,
                            args,
                            Effort.FRINGE);
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
            suite.main(scenario);
        }
        suite.faces();
        for (Scenario scenario : List.of(Scenario.RANDOM_16M, Scenario.CSV_16M)) {
            suite.floors(scenario);
        }
        suite.chunks();
        suite.sizes();
        for (Scenario scenario : Scenario.values()) {
            if (scenario.ordinal() >= Scenario.ALL_CR.ordinal()
                    && scenario.ordinal() <= Scenario.SKIP_TABLE.ordinal()) {
                suite.adversarial(scenario);
            }
        }
        for (Scenario scenario : Scenario.values()) {
            if (scenario.ordinal() >= Scenario.JUNK.ordinal()
                    && scenario.ordinal() <= Scenario.DEFNULL_BCHAR.ordinal()) {
                suite.defnull(scenario);
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
            group = "main " + scenario.id();
            for (PeerKind peer : few) {
                decodeInBoth("main", peer, scenario, CHUNK, Effort.MAIN);
            }
        }
        group = "chunks";
        for (PeerKind peer : List.of(PeerKind.SLUICE_PUSH, PeerKind.NETTY42_DROPPED, PeerKind.FILEUPLOAD2)) {
            decodeInBoth("chunks", peer, Scenario.RANDOM_16M, 64 * 1024, Effort.WIDE);
        }
        floors(Scenario.RANDOM_16M);
    }

    private void main(Scenario scenario) {
        group = "main " + scenario.id();
        for (PeerKind peer : PeerKind.parsers()) {
            if (isFace(peer) || (peer == PeerKind.NETTY42_UNSAFE && scenario != Scenario.RANDOM_16M)) {
                continue;
            }
            if (CLAIMED.contains(peer)) {
                decodeInBoth("main", peer, scenario, CHUNK, Effort.MAIN);
            } else {
                decode("main", peer, scenario, CHUNK, Memory.HEAP, NAMED.contains(peer) ? Effort.WIDE : Effort.FRINGE);
                if (peer == PeerKind.NETTY_CONTRIB && scenario == Scenario.FIELDS_100) {
                    decode("main", peer, scenario, CHUNK, Memory.DIRECT, Effort.WIDE); // there is a goal beside it
                }
            }
        }
    }

    /** The ways to use Sluice that are in a table of their own. */
    private static boolean isFace(PeerKind peer) {
        return peer == PeerKind.SLUICE_PULL_CHUNKS || peer == PeerKind.SLUICE_SERVLET_STREAMING;
    }

    private void adversarial(Scenario scenario) {
        group = "adversarial " + scenario.id();
        decode("adversarial", PeerKind.SLUICE_PUSH, scenario, CHUNK, Memory.HEAP, Effort.WIDE);
        // What the hostile body is compared with, a little of it beside each of them.
        decode("adversarial", PeerKind.SLUICE_PUSH, Scenario.RANDOM_16M, CHUNK, Memory.HEAP, Effort.FRINGE);
        decode("adversarial", PeerKind.SLUICE_PUSH, scenario, CHUNK, Memory.DIRECT, Effort.FRINGE);
        decode("adversarial", PeerKind.SLUICE_PUSH, Scenario.RANDOM_16M, CHUNK, Memory.DIRECT, Effort.FRINGE);
        for (PeerKind peer : PeerKind.parsers()) {
            if (peer != PeerKind.SLUICE_PUSH
                    && peer != PeerKind.NETTY42_UNSAFE
                    && !isFace(peer)
                    && !ALIKE.contains(peer)) {
                decode("adversarial", peer, scenario, CHUNK, Memory.HEAP, Effort.FRINGE);
            }
        }
    }

    private void defnull(Scenario scenario) {
        group = "defnull " + scenario.id();
        for (PeerKind peer : List.of(PeerKind.SLUICE_PUSH, PeerKind.NETTY42_DROPPED, PeerKind.JETTY, PeerKind.OKHTTP)) {
            decode("defnull", peer, scenario, CHUNK, Memory.HEAP, Effort.FRINGE);
        }
    }

    /** The ways to use Sluice, with what the memory they copy through costs. */
    private void faces() {
        for (Scenario scenario : List.of(Scenario.RANDOM_16M, Scenario.FORM, Scenario.FIELDS_100)) {
            group = "faces " + scenario.id();
            for (PeerKind peer : PeerKind.parsers()) {
                if (peer.isSluice()) {
                    boolean basic = peer == PeerKind.SLUICE_PUSH || peer == PeerKind.SLUICE_PULL;
                    decode("faces", peer, scenario, CHUNK, Memory.HEAP, basic ? Effort.MAIN : Effort.WIDE);
                }
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
            group = "chunks " + chunk;
            // Tiny chunks of a big body would measure only how long the list of chunks is.
            Scenario scenario = chunk < 1460 ? Scenario.RANDOM_64K : Scenario.RANDOM_16M;
            // Goals are about the smallest and the largest.
            Effort effort = chunk == 1 || chunk == WHOLE ? Effort.WIDE : Effort.FRINGE;
            for (PeerKind peer : peers) {
                decodeInBoth("chunks", peer, scenario, chunk, effort);
            }
        }
        for (PeerKind peer : List.of(PeerKind.SLUICE_PUSH, PeerKind.NETTY42_DROPPED, PeerKind.JETTY)) {
            group = "chunks " + Scenario.FIELDS_AND_FILE.id();
            decode("chunks", peer, Scenario.FIELDS_AND_FILE, WHOLE, Memory.HEAP, Effort.WIDE);
            decode("chunks", peer, Scenario.FIELDS_AND_FILE, CHUNK, Memory.HEAP, Effort.WIDE);
        }
    }

    private void sizes() {
        group = "sizes";
        for (Scenario scenario : List.of(Scenario.RANDOM_1M, Scenario.RANDOM_64M, Scenario.RANDOM_1G)) {
            for (PeerKind peer : List.of(PeerKind.SLUICE_PUSH, PeerKind.NETTY42_DROPPED, PeerKind.JETTY)) {
                decode("sizes", peer, scenario, CHUNK, Memory.HEAP, Effort.WIDE);
            }
        }
    }

    private void floors(Scenario scenario) {
        for (Memory memory : List.of(Memory.HEAP, Memory.DIRECT)) {
            group = "floors " + scenario.id() + " " + memory.id();
            decode("floors", PeerKind.SLUICE_PUSH, scenario, CHUNK, memory, Effort.MAIN);
            for (String floor : List.of("searchDelimiter", "readWords", "bytesBefore", "copy")) {
                Map<String, String> params = params("scenario", scenario.id(), "memory", memory.id());
                boolean claimed = floor.equals("searchDelimiter") || floor.equals("readWords");
                add("floors", "FloorBenchmark." + floor, params, List.of(), claimed ? Effort.MAIN : Effort.FRINGE);
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
        group = "text";
        List<String> charsets = quick ? List.of("UTF-8") : List.of("US-ASCII", "UTF-8", "UTF-16", "ISO-8859-1");
        for (String charset : charsets) {
            for (String content : charset.equals("US-ASCII") ? List.of("ascii") : List.of("ascii", "mixed")) {
                text(charset, content);
            }
        }
    }

    private void text(String charset, String content) {
        List<String> sizes = List.of("8", "64", "512");
        for (String memory : List.of("heap", "direct")) {
            for (String size : quick || content.equals("mixed") ? List.of("64") : sizes) {
                for (String way : List.of("sluice", "nettyToString", "charBuffer")) {
                    Map<String, String> params =
                            params("charset", charset, "content", content, "memory", memory, "size", size);
                    add("text", "TextBenchmark." + way, params, List.of(), Effort.SMALL);
                }
            }
        }
    }

    private void scans() {
        group = "scans";
        for (String content : quick ? List.of("data") : List.of("header", "data")) {
            for (String memory : List.of("heap", "direct")) {
                for (String way : List.of("readByte", "byteProcessor", "bytesBefore", "chunkMemory")) {
                    Map<String, String> params = params("content", content, "memory", memory);
                    add("scans", "ScanBenchmark." + way, params, List.of(), Effort.SMALL);
                }
            }
        }
    }

    private void access() {
        group = "access";
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
            add("access", "AccessBenchmark." + way, params, args, Effort.SMALL);
        }
    }

    private void allocation() {
        group = "allocation";
        for (String allocator : quick ? List.of("pooled") : Allocators.NAMES) {
            for (String memory : List.of("heap", "direct")) {
                for (String size : quick ? List.of("8192") : List.of("64", "8192", "65536")) {
                    Map<String, String> params = params("allocator", allocator, "memory", memory, "size", size);
                    add("allocation", "AllocationBenchmark.sameThread", params, List.of(), Effort.SMALL);
                    add("allocation", "AllocationBenchmark.acrossThreads", params, List.of(), Effort.SMALL);
                }
                for (String threads : Threads.namesHere()) {
                    Map<String, String> params =
                            params("allocator", allocator, "memory", memory, "size", "8192", "threads", threads);
                    add("short-lived threads", "AllocationBenchmark.shortLivedThread", params, List.of(), Effort.SMALL);
                }
            }
        }
        Map<String, String> params = params("allocator", "pooled", "memory", "heap", "size", "8192");
        add("allocation", "AllocationBenchmark.handOver", params, List.of(), Effort.SMALL);
    }

    private void level(
            String table,
            PeerKind peer,
            Scenario workload,
            Memory memory,
            String level,
            List<String> jvmArgs,
            Effort effort) {
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
        List<String> args = new ArrayList<>(peer.jvmArgs());
        args.addAll(jvmArgs);
        add(table, "PeerBenchmark.decode", params, args, effort);
    }

    /** From heap, and from direct memory where the parser takes it. */
    private void decodeInBoth(String table, PeerKind peer, Scenario scenario, int chunk, Effort effort) {
        decode(table, peer, scenario, chunk, Memory.HEAP, effort);
        if (peer.takesDirect()) {
            decode(table, peer, scenario, chunk, Memory.DIRECT, effort);
        }
    }

    private void decode(String table, PeerKind peer, Scenario scenario, int chunk, Memory memory, Effort effort) {
        Map<String, String> params = params(
                "peer", peer.id(),
                "scenario", scenario.id(),
                "chunk", Integer.toString(chunk),
                "memory", memory.id());
        add(table, "PeerBenchmark.decode", params, peer.jvmArgs(), effort);
    }

    private void add(String table, String benchmark, Map<String, String> params, List<String> jvmArgs, Effort effort) {
        trials.add(new Trial(table, group, benchmark, params, jvmArgs, quick ? Effort.QUICK : effort));
    }

    private static Map<String, String> params(String... namesAndValues) {
        Map<String, String> params = new LinkedHashMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            params.put(namesAndValues[i], namesAndValues[i + 1]);
        }
        return params;
    }
}

package dev.sluice.bench;

import dev.sluice.bench.body.Scenario;
import dev.sluice.bench.jmh.Pools;
import dev.sluice.bench.peer.Memory;
import dev.sluice.bench.peer.PeerKind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** Which figures each command measures. */
final class Suite {
    static final int OWN_CUT = 0;
    static final int CHUNK = 8 * 1024;
    private static final int WHOLE = Integer.MAX_VALUE;

    private static final List<String> LEVELS = List.of("DISABLED", "SIMPLE", "ADVANCED", "PARANOID");
    private static final List<String> ENDS_OF_LEVELS = List.of("DISABLED", "PARANOID");
    /** At every level with the same effort, because levels are divided by one another; here those that goals name. */
    private static final List<PeerKind> CLAIMED_AT_LEVELS = peers("sluice-push netty42-kept chunks-only");

    private static final List<PeerKind> OTHERS_AT_LEVELS = peers("netty42-dropped netty41-kept netty-contrib");
    private static final List<PeerKind> WITH_LF = peers("sluice-push netty42-kept netty-contrib");

    /** The parsers that goals name: what is said about them must hold. */
    private static final List<PeerKind> CLAIMED = peers("sluice-push netty42-dropped netty42-unsafe jetty");
    /** Those that goals name on a body or two. */
    private static final List<PeerKind> NAMED = peers("okhttp netty-contrib undertow");

    private static final List<PeerKind> FEW = peers("sluice-push netty42-dropped jetty");
    /** The ways to use Sluice that are in a table of their own. */
    private static final List<PeerKind> OTHER_WAYS = peers("sluice-pull-chunks sluice-servlet-streaming");
    /** Left out where all parsers are measured on bodies beside the main ones: too like to another that stays. */
    private static final List<PeerKind> ALIKE = peers(
            "netty42-kept netty42-unsafe netty41-kept netty41-dropped sluice-pull sluice-servlet fileupload1 tomcat spring-netty");

    private final List<Trial> trials = new ArrayList<>();
    /** Of the figures that are added next. */
    private String group = "";

    private Suite() {}

    /** Those whose labels hold a match, measured shortly. */
    private static List<Trial> quick(List<Trial> trials, String label) {
        Pattern few = Pattern.compile(label);
        return trials.stream()
                .filter(trial -> few.matcher(trial.label()).find())
                .map(Trial::quick)
                .toList();
    }

    /** Leak-detection levels. */
    static List<Trial> levels(boolean quick) {
        Suite suite = new Suite();
        for (Scenario workload : List.of(Scenario.NETTY_BIG, Scenario.NETTY_HIGH)) {
            for (Memory memory : List.of(Memory.WRAPPED_EACH, Memory.POOLED_EACH)) {
                suite.levels(workload, memory, LEVELS, CLAIMED_AT_LEVELS, Effort.MAIN);
                suite.levels(workload, memory, LEVELS, OTHERS_AT_LEVELS, Effort.WIDE);
            }
        }
        for (Scenario workload : List.of(Scenario.NETTY_BIG_LF, Scenario.NETTY_HIGH_LF)) {
            suite.levels(workload, Memory.WRAPPED_EACH, ENDS_OF_LEVELS, WITH_LF, Effort.WIDE);
        }
        suite.leakSettings();
        return quick ? quick(suite.trials, "(big|high) .*(DISABLED|PARANOID)|leak-settings.*ADVANCED") : suite.trials;
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
        group = "leak-settings";
        for (String setting : List.of(
                "defaults",
                "targetRecords=0",
                "targetRecords=40",
                "samplingInterval=1",
                "samplingInterval=8",
                "acquireAndReleaseOnly")) {
            boolean defaults = setting.equals("defaults");
            String value = setting.contains("=") ? setting : setting + "=true";
            List<String> args = defaults ? List.of() : List.of("-Dio.netty.leakDetection." + value);
            // At PARANOID every buffer is a sample, and at SIMPLE no calls are recorded.
            boolean sampling = setting.startsWith("samplingInterval");
            List<String> levels = LEVELS.subList(defaults || sampling ? 1 : 2, sampling ? 3 : 4);
            for (String level : levels) {
                for (PeerKind peer : CLAIMED_AT_LEVELS) {
                    String table = "leak-settings: " + setting;
                    level(table, peer, Scenario.NETTY_HIGH, Memory.POOLED_EACH, level, args, Effort.FRINGE);
                }
            }
        }
    }

    /** Every parser on every body, then chunk sizes, body sizes and floors. */
    static List<Trial> peers(boolean quick) {
        Suite suite = new Suite();
        EnumSet.range(Scenario.RANDOM_16M, Scenario.PHOTOS_20).forEach(suite::main);
        suite.ways();
        suite.floors(Scenario.RANDOM_16M);
        suite.floors(Scenario.CSV_16M);
        suite.chunks();
        suite.group = "sizes";
        for (Scenario scenario : List.of(Scenario.RANDOM_1M, Scenario.RANDOM_64M, Scenario.RANDOM_1G)) {
            FEW.forEach(peer -> suite.decode("sizes", peer, scenario, CHUNK, Memory.HEAP, Effort.WIDE));
        }
        EnumSet.range(Scenario.ALL_CR, Scenario.SKIP_TABLE).forEach(suite::adversarial);
        EnumSet.range(Scenario.JUNK, Scenario.DEFNULL_BCHAR).forEach(suite::defnull);
        String peers = "(sluice-(push|pull|servlet)|netty42-(dropped|kept)|jetty|fileupload2)";
        return quick
                ? quick(
                        suite.trials,
                        "^main \\S+ " + peers
                                + " (random-16m|fields-100|form) |^floors .*random-16m|^chunks .* 65536 heap")
                : suite.trials;
    }

    /** A few bodies, each with Sluice and the parsers it is judged by, one after the other. */
    static List<List<Trial>> guard() {
        return List.of(
                guarded(Scenario.RANDOM_16M, CHUNK, Memory.HEAP),
                guarded(Scenario.RANDOM_16M, CHUNK, Memory.DIRECT),
                guarded(Scenario.CSV_16M, CHUNK, Memory.HEAP),
                guarded(Scenario.NEAR_BOUNDARIES, CHUNK, Memory.HEAP),
                guarded(Scenario.FIELDS_100, CHUNK, Memory.HEAP),
                guarded(Scenario.FORM, CHUNK, Memory.DIRECT),
                guarded(Scenario.PARTS_1000, CHUNK, Memory.HEAP),
                guarded(Scenario.RANDOM_64K, 64, Memory.HEAP));
    }

    private static List<Trial> guarded(Scenario scenario, int chunk, Memory memory) {
        Suite suite = new Suite();
        suite.group = scenario.id() + " " + chunk + " " + memory.id();
        FEW.forEach(peer -> suite.decode("guard", peer, scenario, chunk, memory, Effort.QUICK));
        return suite.trials;
    }

    private void main(Scenario scenario) {
        group = "main " + scenario.id();
        for (PeerKind peer : PeerKind.parsers()) {
            if (OTHER_WAYS.contains(peer) || (peer == PeerKind.NETTY42_UNSAFE && scenario != Scenario.RANDOM_16M)) {
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

    private void adversarial(Scenario scenario) {
        group = "adversarial " + scenario.id();
        for (Memory memory : List.of(Memory.HEAP, Memory.DIRECT)) {
            Effort effort = memory == Memory.HEAP ? Effort.WIDE : Effort.FRINGE;
            decode("adversarial", PeerKind.SLUICE_PUSH, scenario, CHUNK, memory, effort);
            // What the hostile body is compared with, a little of it beside each of them.
            decode("adversarial", PeerKind.SLUICE_PUSH, Scenario.RANDOM_16M, CHUNK, memory, Effort.FRINGE);
        }
        for (PeerKind peer : PeerKind.parsers()) {
            if (peer != PeerKind.SLUICE_PUSH && !OTHER_WAYS.contains(peer) && !ALIKE.contains(peer)) {
                decode("adversarial", peer, scenario, CHUNK, Memory.HEAP, Effort.FRINGE);
            }
        }
    }

    private void defnull(Scenario scenario) {
        group = "defnull " + scenario.id();
        for (PeerKind peer : peers("sluice-push netty42-dropped jetty okhttp")) {
            decode("defnull", peer, scenario, CHUNK, Memory.HEAP, Effort.FRINGE);
        }
    }

    /** The ways to use Sluice, with what the memory they copy through costs. */
    private void ways() {
        for (Scenario scenario : List.of(Scenario.RANDOM_16M, Scenario.FORM, Scenario.FIELDS_100)) {
            group = "faces " + scenario.id();
            PeerKind.parsers().stream().filter(PeerKind::isSluice).forEach(peer -> {
                boolean basic = peer == PeerKind.SLUICE_PUSH || peer == PeerKind.SLUICE_PULL;
                decode("faces", peer, scenario, CHUNK, Memory.HEAP, basic ? Effort.MAIN : Effort.WIDE);
            });
        }
    }

    private void chunks() {
        for (int chunk : new int[] {1, 17, 64, 1460, CHUNK, 64 * 1024, WHOLE}) {
            group = "chunks " + chunk;
            // Tiny chunks of a big body would measure only how long the list of chunks is.
            Scenario scenario = chunk < 1460 ? Scenario.RANDOM_64K : Scenario.RANDOM_16M;
            // Goals are about the smallest and the largest.
            Effort effort = chunk == 1 || chunk == WHOLE ? Effort.WIDE : Effort.FRINGE;
            for (PeerKind peer : peers("sluice-push sluice-pull netty42-dropped jetty undertow fileupload2")) {
                decodeInBoth("chunks", peer, scenario, chunk, effort);
            }
        }
        group = "chunks " + Scenario.FIELDS_AND_FILE.id();
        for (PeerKind peer : FEW) {
            decode("chunks", peer, Scenario.FIELDS_AND_FILE, WHOLE, Memory.HEAP, Effort.WIDE);
            decode("chunks", peer, Scenario.FIELDS_AND_FILE, CHUNK, Memory.HEAP, Effort.WIDE);
        }
    }

    private void floors(Scenario scenario) {
        for (Memory memory : List.of(Memory.HEAP, Memory.DIRECT)) {
            group = "floors " + scenario.id() + " " + memory.id();
            decode("floors", PeerKind.SLUICE_PUSH, scenario, CHUNK, memory, Effort.MAIN);
            for (String floor : List.of("searchDelimiter", "readWords", "bytesBefore", "copy")) {
                boolean claimed = floor.equals("searchDelimiter") || floor.equals("readWords");
                add(
                        "floors",
                        "FloorBenchmark." + floor,
                        params("scenario=%s memory=%s", scenario.id(), memory.id()),
                        List.of(),
                        claimed ? Effort.MAIN : Effort.FRINGE);
            }
        }
    }

    /** The work on buffers, old ways and new ways. */
    static List<Trial> buffers(boolean quick) {
        Suite suite = new Suite();
        String ways = "sluice nettyToString charBuffer";
        suite.group = "text";
        suite.small("text", "Text", ways, "charset=US-ASCII content=ascii memory=heap,direct size=8,64,512");
        for (String charset : List.of("UTF-8", "UTF-16", "ISO-8859-1")) {
            suite.small("text", "Text", ways, "charset=" + charset + " content=ascii memory=heap,direct size=8,64,512");
            suite.small("text", "Text", ways, "charset=" + charset + " content=mixed memory=heap,direct size=64");
        }
        suite.group = "scans";
        ways = "readByte byteProcessor bytesBefore chunkMemory";
        suite.small("scans", "Scan", ways, "content=header,data memory=heap,direct");
        suite.access();
        suite.group = "allocation";
        String buffer = "allocator=%s memory=heap,direct size=".formatted(String.join(",", Pools.ALLOCATORS));
        suite.small("allocation", "Allocation", "sameThread acrossThreads", buffer + "64,8192,65536");
        String threads = " threads=" + String.join(",", Pools.threadsHere());
        suite.small("short-lived threads", "Allocation", "shortLivedThread", buffer + "8192" + threads);
        suite.small("allocation", "Allocation", "handOver", "allocator=pooled memory=heap size=8192");
        String few =
                "^text .*UTF-8 .* 64|^scans .*data|^access (readBytes|getLongs|oncePerChunk) (heap|direct) (on|off)";
        return quick ? quick(suite.trials, few + "|pooled .*8192") : suite.trials;
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
        List<String> kinds = List.of("heap", "direct", "slice", "composite");
        checks.forEach((name, args) -> kinds.forEach(kind -> access(kind, name, args)));
        access("direct-no-unsafe", "on", List.of("-Dio.netty.noUnsafe=true"));
        access("direct-no-unsafe", "off", List.of("-Dio.netty.noUnsafe=true", bounds, accessible));
    }

    private void access(String kind, String checks, List<String> args) {
        for (String way : List.of("readBytes", "getBytes", "getLongs", "setLongs", "oncePerChunk")) {
            add("access", "AccessBenchmark." + way, params("kind=%s checks=%s", kind, checks), args, Effort.SMALL);
        }
    }

    /** Single methods, each with every combination of the parameters. */
    private void small(String table, String benchmark, String ways, String params) {
        for (Map<String, String> each : combinations(params)) {
            for (String way : ways.split(" ")) {
                add(table, benchmark + "Benchmark." + way, each, List.of(), Effort.SMALL);
            }
        }
    }

    private void level(
            String table,
            PeerKind peer,
            Scenario workload,
            Memory memory,
            String level,
            List<String> jvmArgs,
            Effort effort) {
        List<String> args = new ArrayList<>(peer.jvmArgs());
        args.addAll(jvmArgs);
        Map<String, String> params = params(
                "peer=%s scenario=%s chunk=%s memory=%s level=%s",
                peer.id(), workload.id(), OWN_CUT, memory.id(), level);
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
        Map<String, String> params =
                params("peer=%s scenario=%s chunk=%s memory=%s", peer.id(), scenario.id(), chunk, memory.id());
        add(table, "PeerBenchmark.decode", params, peer.jvmArgs(), effort);
    }

    private void add(String table, String benchmark, Map<String, String> params, List<String> jvmArgs, Effort effort) {
        trials.add(new Trial(table, group, benchmark, params, jvmArgs, effort));
    }

    private static List<PeerKind> peers(String ids) {
        return Arrays.stream(ids.split(" ")).map(PeerKind::of).toList();
    }

    /** In their order, from {@code name=value name=value}. */
    static Map<String, String> params(String format, Object... values) {
        return combinations(format.formatted(values)).get(0);
    }

    /** Of {@code name=value,value name=value,value}. */
    private static List<Map<String, String>> combinations(String params) {
        List<Map<String, String>> all = List.of(Map.of());
        for (String param : params.split(" ")) {
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

package dev.sluice.bench.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.bench.body.Body;
import dev.sluice.bench.body.Scenario;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class PeersTest {

    private static final long SMALL = 1 << 20;

    static List<PeerKind> parsers() {
        return PeerKind.parsers();
    }

    @ParameterizedTest
    @MethodSource("parsers")
    void everyParserReadsOrdinaryBodiesRightly(PeerKind kind) {
        for (Scenario scenario : List.of(Scenario.FORM, Scenario.FIELDS_100, Scenario.DEFNULL_SIMPLE)) {
            Body body = scenario.body();
            for (Memory memory : kind.takesDirect() ? List.of(Memory.HEAP, Memory.DIRECT) : List.of(Memory.HEAP)) {
                assertEquals(Optional.empty(), verdict(kind, body, 8192, memory), scenario + " " + memory);
            }
        }
    }

    @Test
    void sluiceReadsEveryScenarioOfModestSizeRightlyInEveryMemory() {
        for (Scenario scenario : Scenario.values()) {
            if (isLarge(scenario)) {
                continue;
            }
            Body body = scenario.body();
            for (int chunk : new int[] {0, body.size() < SMALL ? 17 : 1460, Integer.MAX_VALUE}) {
                for (Memory memory : Memory.values()) {
                    assertEquals(
                            Optional.empty(),
                            verdict(PeerKind.SLUICE_PUSH, body, chunk, memory),
                            scenario + " in chunks of " + chunk + ", " + memory);
                }
                assertEquals(
                        Optional.empty(),
                        verdict(PeerKind.SLUICE_PULL, body, chunk, Memory.HEAP),
                        scenario + " pulled in chunks of " + chunk);
            }
        }
    }

    @Test
    void aWrongResultIsNoticed() {
        Body body = Scenario.FORM.body();
        try (Peer peer = PeerKind.CHUNKS_ONLY.open(body, 8192, Memory.HEAP)) {
            assertEquals(Optional.of("finds 0 parts of 7"), Verdict.against(peer, body, false));
        }
    }

    @Test
    void aWrongNameIsNoticedWhereNamesAreRead() {
        Body body = Scenario.DEFNULL_SIMPLE.body();
        Peer swapped = new Peer() {
            @Override
            public void run(Tally tally) throws Exception {
                Tally recording = Tally.recording();
                try (Peer peer = PeerKind.SLUICE_PULL.open(body, 8192, Memory.HEAP)) {
                    peer.run(recording);
                }
                List<Tally.Part> parts = recording.parts();
                for (int i = 0; i < parts.size(); i++) {
                    byte[] content = parts.get(i).content();
                    tally.data(content, 0, content.length);
                    tally.endPart(
                            parts.get(parts.size() - 1 - i).name(), parts.get(i).filename());
                }
            }

            @Override
            public void close() {}
        };
        assertEquals(Optional.of("tells wrong names"), Verdict.against(swapped, body, true));
    }

    @Test
    void netty41IsAnotherNettyThanTheOneOnTheClassPath() throws ClassNotFoundException {
        String version = "io.netty.util.Version";
        Class<?> island = NettyIsland.netty41().loadClass(version);
        assertEquals("netty41", folderOf(island));
        assertEquals(false, folderOf(Class.forName(version)).equals("netty41"));
    }

    private static String folderOf(Class<?> type) {
        String[] path = type.getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .getPath()
                .split("/");
        return path[path.length - 2];
    }

    private static boolean isLarge(Scenario scenario) {
        List<Scenario> large = List.of(
                Scenario.RANDOM_16M,
                Scenario.CSV_16M,
                Scenario.FIELDS_AND_FILE,
                Scenario.DEFNULL_UPLOAD,
                Scenario.RANDOM_64M,
                Scenario.RANDOM_1G);
        return large.contains(scenario);
    }

    private static Optional<String> verdict(PeerKind kind, Body body, int chunk, Memory memory) {
        try (Peer peer = kind.open(body, chunk, memory)) {
            return Verdict.against(peer, body, kind.readsNames());
        }
    }
}

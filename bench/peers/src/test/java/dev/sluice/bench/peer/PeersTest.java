package dev.sluice.bench.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.sluice.testkit.ProofSize;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Tag;
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
    void parser_ordinaryBody_isCorrect(PeerKind kind) {
        for (Scenario scenario : List.of(Scenario.FORM, Scenario.FIELDS_100, Scenario.DEFNULL_SIMPLE)) {
            Body body = scenario.body();
            for (Memory memory :
                    kind.takesDirect ? List.of(Memory.HEAP, Memory.DIRECT, Memory.SLICES) : List.of(Memory.HEAP)) {
                assertEquals(Optional.empty(), verdict(kind, body, 8192, memory), scenario + " " + memory);
            }
        }
    }

    /** A short build runs every 17th of about 18 combinations per body, so that each body has at least one. */
    @Tag("sized")
    @Test
    void sluice_everyScenario_isCorrect() {
        int every = ProofSize.of("sluice.peers.every", 17, 1);
        int ways = 0;
        for (Scenario scenario : modest()) {
            Body body = scenario.body();
            for (int chunk : new int[] {0, body.size() < SMALL ? 17 : 1460, Integer.MAX_VALUE}) {
                for (Memory memory : Memory.values()) {
                    if (ways++ % every == 0) {
                        assertRight(PeerKind.SLUICE_PUSH, body, chunk, memory, scenario);
                    }
                }
                if (ways++ % every == 0) {
                    assertRight(PeerKind.SLUICE_PULL, body, chunk, Memory.HEAP, scenario);
                }
            }
        }
    }

    private static void assertRight(PeerKind kind, Body body, int chunk, Memory memory, Scenario scenario) {
        assertEquals(
                Optional.empty(),
                verdict(kind, body, chunk, memory),
                () -> kind + ", " + scenario + " in chunks of " + chunk + ", " + memory);
    }

    @Test
    void missingParts_areDetected() {
        Body body = Scenario.FORM.body();
        try (Peer peer = PeerKind.CHUNKS_ONLY.open(body, 8192, Memory.HEAP)) {
            assertEquals(Optional.of("finds 0 parts of 7"), PeerKind.CHUNKS_ONLY.wrong(peer, body));
        }
    }

    @Test
    void swappedNames_areDetected() {
        Body body = Scenario.DEFNULL_SIMPLE.body();
        Peer swapped = tally -> {
            Tally recording = Tally.recording();
            PeerKind.SLUICE_PULL.open(body, 8192, Memory.HEAP).run(recording);
            List<Tally.Part> parts = recording.parts();
            for (int i = 0; i < parts.size(); i++) {
                byte[] content = parts.get(i).content();
                tally.data(content, 0, content.length);
                tally.endPart(
                        parts.get(parts.size() - 1 - i).name(), parts.get(i).filename());
            }
        };
        assertEquals(Optional.of("reports wrong names"), PeerKind.SLUICE_PULL.wrong(swapped, body));
    }

    @Test
    void netty41_isSeparateFromClassPath() throws ClassNotFoundException {
        String of42 = "io.netty.channel.IoHandle";
        assertEquals(of42, Class.forName(of42).getName());
        assertThrows(ClassNotFoundException.class, () -> NettyIsland.netty41().loadClass(of42));
    }

    private static Set<Scenario> modest() {
        return EnumSet.complementOf(EnumSet.of(
                Scenario.RANDOM_16M,
                Scenario.CSV_16M,
                Scenario.FIELDS_AND_FILE,
                Scenario.DEFNULL_UPLOAD,
                Scenario.RANDOM_64M,
                Scenario.RANDOM_256M,
                Scenario.RANDOM_1G));
    }

    private static Optional<String> verdict(PeerKind kind, Body body, int chunk, Memory memory) {
        try (Peer peer = kind.open(body, chunk, memory)) {
            return kind.wrong(peer, body);
        }
    }
}

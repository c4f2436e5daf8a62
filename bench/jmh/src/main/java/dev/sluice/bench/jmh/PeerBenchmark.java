package dev.sluice.bench.jmh;

import dev.sluice.bench.body.Body;
import dev.sluice.bench.body.Scenario;
import dev.sluice.bench.peer.Memory;
import dev.sluice.bench.peer.Peer;
import dev.sluice.bench.peer.PeerKind;
import dev.sluice.bench.peer.Tally;
import dev.sluice.bench.peer.Verdict;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** One whole body through one parser. The chunks are ready before the clock runs unless the memory says otherwise. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class PeerBenchmark {
    @Param("sluice-push")
    public String peer;

    @Param("fields-100")
    public String scenario;

    /** In bytes; 0 for the body's own cut, {@link Integer#MAX_VALUE} for the whole body in one chunk. */
    @Param("8192")
    public int chunk;

    @Param("heap")
    public String memory;

    /** Leak-detection level of the netty that the parser is linked with. */
    @Param("DISABLED")
    public String level;

    /** Whether the parser is known to read this body wrongly when it is cut like this; it is then timed all the same. */
    @Param("right")
    public String outcome;

    private Peer parser;
    private final Tally tally = Tally.counting();

    @Setup(Level.Trial)
    public void open() {
        Body body = Scenario.of(scenario).body();
        PeerKind kind = PeerKind.of(peer);
        parser = kind.open(body, chunk, Memory.of(memory));
        parser.leakLevel(level);
        Optional<String> wrong = Verdict.against(parser, body, kind.readsNames());
        if (wrong.isPresent() == outcome.equals("right")) {
            throw new IllegalStateException(peer + " " + wrong.orElse("reads the body rightly"));
        }
    }

    @TearDown(Level.Trial)
    public void close() {
        parser.close();
    }

    @Benchmark
    public long decode() throws Exception {
        tally.reset();
        parser.run(tally);
        return tally.bytes();
    }
}

package dev.sluice.samples.upload;

import dev.sluice.ReportedDeviation;
import dev.sluice.bench.endtoend.Counted;
import dev.sluice.bench.peer.Tally;
import dev.sluice.bench.peer.bytebuf.ByteBufChunks;
import dev.sluice.samples.report.ErrorAnswer;
import io.netty.buffer.ByteBuf;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Digests and keeps nothing. Not thread-safe. */
final class CountingSink implements PartSink {

    private final Tally tally;
    private @Nullable PartHead head;

    CountingSink(Tally tally) {
        this.tally = tally;
    }

    @Override
    public void begin(PartHead next) {
        head = next;
    }

    @Override
    public void data(ByteBuf data) {
        ByteBufChunks.tell(tally, data);
    }

    @Override
    public void end() {
        PartHead ended = head;
        if (ended != null) {
            tally.endPart(ended.name(), ended.filename());
        }
    }

    @Override
    public Object finish(long bodySize, List<ReportedDeviation> deviations) {
        return Counted.of(tally.asTruth());
    }

    @Override
    public Object refuse(ErrorAnswer error, List<ReportedDeviation> deviations) {
        return error.asAnswer();
    }

    @Override
    public void close() {
        head = null;
    }
}

package dev.sluice.form.sink;

import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A sink that passes everything to two sinks. */
public final class TeeSink implements PartSink {
    private final PartSink first;
    private final PartSink second;
    private final SinkState state = new SinkState();
    private @Nullable Readiness firstPublished;
    private @Nullable Readiness secondPublished;
    private @Nullable Readiness published;

    public TeeSink(PartSink first, PartSink second) {
        this.first = Objects.requireNonNull(first, "first");
        this.second = Objects.requireNonNull(second, "second");
    }

    @Override
    public Readiness write(ByteBuf data) throws IOException {
        state.checkWritable();
        Readiness ready = first.write(data.duplicate()); // a sink may change the indices
        return Readiness.both(ready, second.write(data));
    }

    @Override
    public Readiness complete() throws IOException {
        state.complete();
        Readiness ready = first.complete();
        return Readiness.both(ready, second.complete());
    }

    @Override
    public Readiness publish() throws IOException {
        Readiness ready = first.publish();
        firstPublished = ready;
        Readiness other = second.publish();
        secondPublished = other;
        Readiness both = Readiness.both(ready, other);
        published = both;
        return both;
    }

    @Override
    public void retract() throws IOException {
        try {
            if (isDone(secondPublished)) {
                secondPublished = null; // retract once only
                second.retract();
            }
        } finally {
            if (isDone(firstPublished)) {
                firstPublished = null;
                first.retract();
            }
        }
    }

    private static boolean isDone(@Nullable Readiness published) {
        return published != null && published.isReady() && published.failure() == null;
    }

    /** Closes both sinks. If only one of them was published, it is retracted first. */
    @Override
    public void close() {
        if (!state.close()) {
            return;
        }
        boolean both = isDone(published); // as the caller of publish() sees it
        try {
            try (first;
                    second) {
                if (!both) {
                    retract();
                }
            } finally {
                if (!both) {
                    retract(); // a sink may have been published in the meantime
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

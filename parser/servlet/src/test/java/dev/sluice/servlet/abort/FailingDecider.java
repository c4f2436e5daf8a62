package dev.sluice.servlet.abort;

import dev.sluice.PartHead;
import dev.sluice.form.PartDecider;
import dev.sluice.form.PartDecision;
import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import dev.sluice.form.SpoolDirectory;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import java.nio.file.Path;

/** A decider that fails once a given position of the body is reached, in {@link #decide} or in the sink for the part {@code sink}. */
final class FailingDecider implements PartDecider {
    enum Failure {
        NONE,
        UNCHECKED,
        IO
    }

    private final Failure failure;
    private final int at;
    private final SpoolDirectory spool;
    private final Path target;
    private volatile ByteBufAllocator seen;

    /** @param at the first position in the body at which a failure may occur */
    FailingDecider(Failure failure, int at, SpoolDirectory spool, Path target) {
        this.failure = failure;
        this.at = at;
        this.spool = spool;
        this.target = target;
    }

    @Override
    public PartDecision decide(PartHead part) throws IOException {
        check(part.offset());
        return switch (part.name()) {
            case "target" -> PartDecision.to(PartSink.tee(PartSink.discard(), PartSink.toFile(spool, target)));
            case "sink" -> PartDecision.to(new Sink(part.offset()));
            default -> PartDecision.store();
        };
    }

    /** {@return the allocator of the chunks, or null before the sink has received one} */
    ByteBufAllocator chunkAllocator() {
        return seen;
    }

    private void check(long position) throws IOException {
        if (position < at) {
            return;
        }
        switch (failure) {
            case UNCHECKED -> throw new ArithmeticException("a bug in the application");
            case IO -> throw new IOException("broken");
            case NONE -> {}
        }
    }

    /** A sink that retains its first chunk until it is closed, as a queueing sink does. */
    private final class Sink implements PartSink {
        private long position;
        private ByteBuf held;

        Sink(long position) {
            this.position = position;
        }

        @Override
        public Readiness write(ByteBuf data) throws IOException {
            seen = data.alloc();
            if (held == null) {
                held = data.retain();
            }
            position += data.readableBytes();
            check(position);
            return Readiness.READY;
        }

        @Override
        public Readiness complete() throws IOException {
            check(position);
            return Readiness.READY;
        }

        @Override
        public void close() {
            if (held != null) {
                held.release();
                held = null;
            }
        }
    }
}

package dev.sluice.form;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.file.CopyOption;
import java.nio.file.Path;
import java.util.Objects;

/**
 * Makes a part a file of the application. It is written in the spool and moved to its place when it is complete, so the
 * target is there in full or not at all.
 */
public final class FileSink implements PartSink {
    private final SpillSink spooled;
    private final Path target;
    private final CopyOption[] options;

    private FileSink(SpoolDirectory spool, Path target, CopyOption[] options) {
        this.spooled = SpillSink.create(spool, -1, MemoryBudget.unlimited());
        this.target = target;
        this.options = options;
    }

    /**
     * {@return a sink}
     *
     * @param spool where the file is written; best on the file system of the target
     * @param target a path chosen by the application, never by the peer
     * @param options as for {@link PartContent#moveTo}
     */
    public static FileSink create(SpoolDirectory spool, Path target, CopyOption... options) {
        return new FileSink(spool, Objects.requireNonNull(target, "target"), options.clone());
    }

    @Override
    public void write(ByteBuf data) throws IOException {
        spooled.write(data);
    }

    @Override
    public void complete() throws IOException {
        spooled.complete();
        try (PartContent content = spooled.takeContent()) {
            content.moveTo(target, options);
        }
    }

    @Override
    public void close() throws IOException {
        spooled.close();
    }
}

package dev.sluice.form.sink;

import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import dev.sluice.form.storage.Spool;
import dev.sluice.form.storage.SpoolFile;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A sink that writes a part to the spool and moves the file to its target when the form is complete. */
public final class FileSink implements PartSink {
    private final Spool spool;
    private final Iterator<Path> targets;
    private final boolean replace;
    private final SinkState state = new SinkState();
    private @Nullable SpoolFile file;
    private @Nullable Path target;
    private boolean replaced;

    public FileSink(Spool spool, Iterator<Path> targets, boolean replace) {
        this.spool = spool;
        this.targets = Objects.requireNonNull(targets, "targets");
        this.replace = replace;
    }

    private SpoolFile file() throws IOException {
        SpoolFile open = file;
        if (open == null) {
            open = spool.create();
            file = open;
        }
        return open;
    }

    @Override
    public Readiness write(ByteBuf data) throws IOException {
        state.checkWritable();
        file().write(data);
        return Readiness.READY;
    }

    @Override
    public Readiness complete() throws IOException {
        state.complete();
        file().complete();
        return Readiness.READY;
    }

    @Override
    public Readiness publish() throws IOException {
        for (; ; ) {
            Path next = targets.next();
            target = next;
            replaced = replace && Files.exists(next, LinkOption.NOFOLLOW_LINKS);
            try {
                file().moveTo(next, replace);
                return Readiness.READY;
            } catch (FileAlreadyExistsException e) {
                if (!targets.hasNext()) {
                    throw e;
                }
            }
        }
    }

    @Override
    public void retract() throws IOException {
        Files.deleteIfExists(Objects.requireNonNull(target, "retract() was called before publish()"));
        if (replaced) {
            throw new IOException("the replaced file cannot be restored: " + target);
        }
    }

    @Override
    public void close() {
        SpoolFile open = file;
        if (state.close() && open != null) {
            open.close();
        }
    }
}

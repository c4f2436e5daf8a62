package dev.sluice.samples.upload;

import java.io.IOException;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jline.terminal.spi.SystemStream;
import org.jline.terminal.spi.TerminalProvider;
import org.jspecify.annotations.Nullable;

/** A progress bar on standard error, for long input and where somebody watches. Not thread-safe. */
final class Progress implements AutoCloseable {
    /** The size of an input that is not known before its end. */
    static final long UNKNOWN = -1;

    private static final long LONG_INPUT = 32L << 20;

    private final long size;
    private long done;
    private @Nullable ProgressBar bar;

    Progress(long size) {
        this.size = size;
    }

    void add(int bytes) {
        boolean wasLong = isLong();
        done += bytes;
        if (!wasLong && isLong() && isWatched()) {
            bar = new ProgressBarBuilder()
                    .setTaskName("inspect")
                    .setInitialMax(size)
                    .setStyle(ProgressBarStyle.ASCII)
                    .setUnit(" MiB", 1 << 20)
                    .showSpeed()
                    .setConsumer(new ConsoleProgressBarConsumer(System.err))
                    .build();
        }
        if (bar != null) {
            bar.stepTo(done);
        }
    }

    private boolean isLong() {
        return done > 0 && (size == UNKNOWN ? done : size) >= LONG_INPUT;
    }

    private static boolean isWatched() {
        try {
            return TerminalProvider.load("exec").isSystemStream(SystemStream.Error);
        } catch (IOException e) {
            return false;
        }
    }

    @Override
    public void close() {
        if (bar != null) {
            bar.close();
        }
    }
}

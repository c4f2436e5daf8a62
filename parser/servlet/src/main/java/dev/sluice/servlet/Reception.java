package dev.sluice.servlet;

import dev.sluice.form.ClientPace;
import dev.sluice.form.FormAssembler;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.SpoolDirectory;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** What all requests of one filter, or of one {@link AsyncForms}, share; ends with its owner. */
final class Reception implements AutoCloseable {
    static final long MIN_BYTES_PER_SECOND = 240;
    static final Duration MIN_RATE_GRACE = Duration.ofSeconds(5);

    private final FormOptions options;
    private final long minBytesPerSecond;
    private final Duration grace;
    private final @Nullable Path location;
    private final ChunkPool chunks = new ChunkPool();
    private final Set<RequestState> live = ConcurrentHashMap.newKeySet();
    private final SlowClientWatch watch;
    private volatile boolean closed;

    /**
     * @param minBytesPerSecond 0 for no minimum
     * @param location where {@code Part.write} puts relative names; null for the temporary directory of the container
     */
    Reception(FormOptions options, long minBytesPerSecond, Duration grace, @Nullable Path location) {
        this.options = withoutThreadCaches(options);
        this.minBytesPerSecond = minBytesPerSecond;
        this.grace = grace;
        SpoolDirectory spool = options.spool();
        this.location =
                location != null || spool == null ? location : spool.path().getParent();
        this.watch = new SlowClientWatch(grace);
    }

    /** The default allocator of netty would leave its caches on the threads of the container. */
    static FormOptions withoutThreadCaches(FormOptions options) {
        return options.multipart().hasAllocator()
                ? options
                : options.toBuilder()
                        .multipart(multipart -> multipart.allocator(ChunkPool.ALLOCATOR))
                        .build();
    }

    /** {@return the rate, if both can be used} */
    static long checkRate(long bytesPerSecond, Duration grace) {
        ClientPace.of(bytesPerSecond, grace); // knows what it takes
        return bytesPerSecond;
    }

    FormOptions options() {
        return options;
    }

    @Nullable
    Path location() {
        return location;
    }

    ChunkPool chunks() {
        return chunks;
    }

    SlowClientWatch watch() {
        return watch;
    }

    long minBytesPerSecond() {
        return minBytesPerSecond;
    }

    Duration grace() {
        return grace;
    }

    /** {@return the pace of a client, or null where there is no minimum} */
    @Nullable
    ClientPace newPace() {
        return minBytesPerSecond == 0 ? null : ClientPace.of(minBytesPerSecond, grace);
    }

    long now() {
        return System.nanoTime();
    }

    boolean isClosed() {
        return closed;
    }

    void remember(RequestState state) {
        live.add(state);
        if (closed) {
            state.shutDown();
        }
    }

    void forget(RequestState state) {
        live.remove(state);
    }

    /** {@return how many requests are not over yet} */
    int live() {
        return live.size();
    }

    /** Reads a whole body. {@return the form; of the caller} */
    MultipartForm readAll(FormAssembler assembler, InputStream in, MemoryBudget budget) throws IOException {
        try (MemoryBudget.Account account = budget.open()) {
            account.reserve(ChunkPool.CHUNK_SIZE);
            for (; ; ) {
                ByteBuf chunk = chunks.take();
                try {
                    if (chunk.writeBytes(in, ChunkPool.CHUNK_SIZE) < 0) {
                        return assembler.finish();
                    }
                    assembler.feed(chunk.retain());
                } finally {
                    chunks.give(chunk);
                }
            }
        }
    }

    /** Ends what is left: forms that are held too. */
    @Override
    public void close() {
        closed = true;
        try {
            for (RequestState state : live) {
                state.shutDown();
            }
        } finally {
            watch.close();
            chunks.close();
        }
    }
}

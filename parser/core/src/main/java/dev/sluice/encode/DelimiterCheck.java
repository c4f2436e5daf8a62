package dev.sluice.encode;

import dev.sluice.buffer.ChunkMemory;
import dev.sluice.buffer.Delimiter;
import dev.sluice.buffer.DelimiterSearch;
import io.netty.buffer.ByteBuf;

/** A search for the delimiter in the content of parts. It finds what any reader takes for one, wherever the content is split. */
public final class DelimiterCheck {
    private final DelimiterSearch search;
    private final ChunkMemory memory = new ChunkMemory();

    public DelimiterCheck(Delimiter delimiter) {
        search = new DelimiterSearch(delimiter, false);
    }

    /** Begins the content of a part. */
    public void begin() {
        search.prime();
        search.watch(true);
    }

    /**
     * {@return whether a delimiter ends in the next bytes of the content}
     *
     * @param content <em>borrowed</em>
     */
    public boolean isIn(ByteBuf content) {
        memory.open(content.retain());
        try {
            for (int at = memory.start(); at < memory.end(); ) {
                if (search.matchEnd() > 0) {
                    at = search.resume(memory, at, memory.end());
                } else {
                    at = search.find(memory, at, memory.end()) + search.matchEnd() - search.matchStart();
                }
                if (search.isComplete() || search.isAtLookalike()) {
                    return true;
                }
            }
            return false;
        } finally {
            memory.close();
        }
    }
}

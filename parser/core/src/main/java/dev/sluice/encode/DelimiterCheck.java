package dev.sluice.encode;

import dev.sluice.buffer.ChunkMemory;
import dev.sluice.buffer.Delimiter;
import dev.sluice.buffer.DelimiterSearch;
import io.netty.buffer.ByteBuf;

/**
 * A search for the delimiter in the content of parts. It finds the boundary after two dashes at the start of the content or
 * of a line, even if it is split between buffers.
 *
 * <p><b>Speed.</b> A relay has already searched the content for the delimiter of the client, and an equal search for the new delimiter
 * would double the time. However, all bytes of a {@link RandomBoundary} are equal in six of their bits, and each occurrence of its 64 bytes
 * contains 57 words of 8 bytes, at consecutive indices. Therefore only one word in {@value ChunkMemory#WORD_STRIDE} bytes is read. If none
 * of these words has these six bits in each byte, the buffer does not contain the boundary. Its end is then searched for the start of a
 * delimiter if its last byte occurs in one. In all other cases, and for shorter boundaries, {@link DelimiterSearch} searches the whole
 * buffer.
 */
public final class DelimiterCheck {
    private static final int PREFIX_LENGTH = 4;

    private final DelimiterSearch search;
    private final ChunkMemory memory = new ChunkMemory();

    /** The length of the delimiter. An incomplete delimiter at the end of a buffer is shorter. */
    private final int tail;

    /** Whether every occurrence of the boundary contains one of the words that are read. */
    private final boolean isLong;

    /** The bits in which all bytes of the boundary are equal, for each byte of a word. {@link #value} has the values of these bits. */
    private final long mask;

    private final long value;

    public DelimiterCheck(Delimiter delimiter) {
        search = new DelimiterSearch(delimiter, false);
        ByteBuf boundary = delimiter.text(PREFIX_LENGTH, delimiter.length());
        int set = 0xFF;
        int any = 0;
        for (int i = 0; i < boundary.readableBytes(); i++) {
            set &= boundary.getByte(i);
            any |= boundary.getByte(i);
        }
        tail = delimiter.length();
        isLong = boundary.readableBytes() >= ChunkMemory.WORD_STRIDE + Long.BYTES - 1;
        mask = (set | ~any & 0xFF) * 0x0101010101010101L;
        value = set * 0x0101010101010101L;
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
        memory.borrow(content);
        try {
            int at = memory.start();
            if (search.matchEnd() > 0) {
                at = search.resume(memory, at, memory.end());
            }
            if (search.matchEnd() == 0) {
                search.find(memory, candidate(at), memory.end());
            }
            return search.isComplete() || search.isAtLookalike();
        } finally {
            memory.detach();
        }
    }

    /** {@return an index before which no delimiter starts, other than the one that {@link #search} has begun to compare} */
    private int candidate(int at) {
        int end = memory.end();
        boolean clean =
                isLong && search.lookalike() == 0 && end - at > tail && !memory.mayHaveWord(at, end, mask, value);
        if (!clean) {
            return at;
        }
        return mayBeInDelimiter(memory.getByte(end - 1)) ? end - tail : end;
    }

    private boolean mayBeInDelimiter(byte b) {
        return b == '\r' || b == '\n' || b == '-' || (byte) (b & mask) == (byte) value;
    }
}

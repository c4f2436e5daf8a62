package dev.sluice.bench.peer;

import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A whole multipart body in memory with the truth about it. Immutable, safe for all threads; the arrays are shared and must
 * not be written.
 *
 * @param contentType of the request, with the boundary
 * @param boundary that it says
 * @param pieces in which it is fed when it is not cut otherwise
 * @param lenient whether a reader has to put up with bare LF line ends or with a long preamble and epilogue
 * @param size in bytes, delimiters and header sections included
 */
public record Body(String contentType, String boundary, List<Slice> pieces, Truth truth, boolean lenient, long size) {
    /** Up to this size, chunks of equal content share their memory. */
    private static final int TINY = 64;

    static Body of(String contentType, String boundary, List<Slice> pieces, Truth truth, boolean lenient) {
        long size = pieces.stream().mapToLong(Slice::length).sum();
        return new Body(contentType, boundary, List.copyOf(pieces), truth, lenient, size);
    }

    /** A body of which nothing is known. */
    public static Body unknown(String contentType, String boundary, List<Slice> pieces) {
        return of(contentType, boundary, pieces, Truth.NOTHING, false);
    }

    /**
     * The body cut into chunks. Equal chunks of up to {@value #TINY} bytes are one and the same slice: in a server they come
     * from a pool and lie in the cache, where 65,536 buffers of their own would not.
     *
     * @param chunkSize in bytes; 0 for the cut the body was made with, {@link Integer#MAX_VALUE} for one chunk
     */
    public List<Slice> cut(int chunkSize) {
        if (chunkSize == 0 || (chunkSize == Integer.MAX_VALUE && pieces.size() == 1)) {
            return pieces;
        }
        if (chunkSize == Integer.MAX_VALUE) {
            return List.of(joined());
        }
        List<Slice> chunks = new ArrayList<>();
        Map<ByteBuffer, Slice> tiny = new HashMap<>();
        for (Slice piece : pieces) {
            for (int at = 0; at < piece.length(); at += chunkSize) {
                int length = Math.min(chunkSize, piece.length() - at);
                Slice chunk = new Slice(piece.array(), piece.offset() + at, length);
                chunks.add(chunkSize > TINY ? chunk : tiny.computeIfAbsent(chunk.bytes(), bytes -> chunk));
            }
        }
        return chunks;
    }

    /** A stream that hands out at most one chunk of the given cut per read; it can be rewound. */
    public ChunkedStream stream(int chunkSize) {
        return new ChunkedStream(cut(chunkSize));
    }

    private Slice joined() {
        ByteBuffer all = ByteBuffer.allocate(Math.toIntExact(size));
        pieces.forEach(piece -> all.put(piece.bytes()));
        return new Slice(all.array(), 0, all.capacity());
    }

    /** Reads the chunks one after the other; a read never crosses the end of a chunk, as with a socket. */
    public static final class ChunkedStream extends InputStream {
        private final List<Slice> chunks;
        private int next;
        private Slice current = new Slice(new byte[0], 0, 0);
        private int position;

        ChunkedStream(List<Slice> chunks) {
            this.chunks = chunks;
        }

        /** Goes back to the first byte. */
        public void rewind() {
            next = 0;
            current = new Slice(current.array(), 0, 0);
            position = 0;
        }

        @Override
        public int read() {
            return hasMore() ? current.array()[current.offset() + position++] & 0xff : -1;
        }

        @Override
        public int read(byte[] target, int offset, int length) {
            if (length == 0) {
                return 0;
            }
            if (!hasMore()) {
                return -1;
            }
            int count = Math.min(length, current.length() - position);
            System.arraycopy(current.array(), current.offset() + position, target, offset, count);
            position += count;
            return count;
        }

        @Override
        public int available() {
            return hasMore() ? current.length() - position : 0;
        }

        private boolean hasMore() {
            while (position == current.length()) {
                if (next == chunks.size()) {
                    return false;
                }
                current = chunks.get(next++);
                position = 0;
            }
            return true;
        }
    }
}

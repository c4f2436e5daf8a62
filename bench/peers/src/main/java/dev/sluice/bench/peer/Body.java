package dev.sluice.bench.peer;

import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A whole multipart body in memory, with its expected content. Immutable and thread-safe. The arrays are shared; do not write to them.
 *
 * @param contentType the Content-Type of the request, including the boundary
 * @param pieces the chunks of the body if it is not cut differently
 * @param truth the content that a parser must find
 * @param lenient whether the body has bare LF line ends, a preamble or an epilogue
 * @param size the size in bytes, including delimiters and header sections
 */
public record Body(String contentType, String boundary, List<Slice> pieces, Truth truth, boolean lenient, long size) {
    /** The largest size of chunks that share their memory if they are equal. */
    private static final int TINY = 64;

    static Body of(String contentType, String boundary, List<Slice> pieces, Truth truth, boolean lenient) {
        long size = pieces.stream().mapToLong(Slice::length).sum();
        return new Body(contentType, boundary, List.copyOf(pieces), truth, lenient, size);
    }

    public static Body unknown(String contentType, String boundary, List<Slice> pieces) {
        return of(contentType, boundary, pieces, Truth.NOTHING, false);
    }

    /**
     * Cuts the body into chunks. Equal chunks of up to {@value #TINY} bytes are the same slice. In a server such chunks
     * come from a pool and are in the processor cache. Tens of thousands of separate buffers would not be.
     *
     * @param chunkSize the size in bytes; 0 for the original pieces, {@link Integer#MAX_VALUE} for a single chunk
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

    /** Returns a stream of the body that returns at most one chunk per read. */
    public ChunkedStream stream(int chunkSize) {
        return new ChunkedStream(cut(chunkSize));
    }

    private Slice joined() {
        ByteBuffer all = ByteBuffer.allocate(Math.toIntExact(size));
        pieces.forEach(piece -> all.put(piece.bytes()));
        return new Slice(all.array(), 0, all.capacity());
    }

    /** A stream of chunks that can be rewound. As with a socket, a read never crosses the end of a chunk. */
    public static final class ChunkedStream extends InputStream {
        private final List<Slice> chunks;
        private int next;
        private Slice current = new Slice(new byte[0], 0, 0);
        private int position;

        ChunkedStream(List<Slice> chunks) {
            this.chunks = chunks;
        }

        /** Returns to the first byte. */
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

package dev.sluice.samples.upload;

/** The last bytes of an input, by their offsets in it. Not thread-safe. */
final class RecentBytes {
    private final byte[] ring;
    private long end;

    RecentBytes(int capacity) {
        this.ring = new byte[capacity];
    }

    void add(byte[] source, int length) {
        int kept = Math.min(length, ring.length);
        long at = end + length - kept;
        for (int copied = 0; copied < kept; ) {
            int index = (int) ((at + copied) % ring.length);
            int run = Math.min(kept - copied, ring.length - index);
            System.arraycopy(source, length - kept + copied, ring, index, run);
            copied += run;
        }
        end += length;
    }

    /** {@return the offset of the oldest byte still here} */
    long start() {
        return Math.max(0, end - ring.length);
    }

    /** {@return the offset after the newest byte} */
    long end() {
        return end;
    }

    /** {@return the byte at {@code offset} as 0-255, or -1 where it is not here} */
    int at(long offset) {
        return offset < start() || offset >= end ? -1 : ring[(int) (offset % ring.length)] & 0xFF;
    }

    /** {@return the offset of the first {@code bytes} that are still here, or -1} */
    long find(byte[] bytes) {
        for (long offset = start(); offset + bytes.length <= end; offset++) {
            int matched = 0;
            while (matched < bytes.length && at(offset + matched) == (bytes[matched] & 0xFF)) {
                matched++;
            }
            if (matched == bytes.length) {
                return offset;
            }
        }
        return -1;
    }
}

package dev.sluice.samples.upload;

/** The last octets of an input, by their offsets in it. Not thread-safe. */
final class RecentOctets {
    private final byte[] ring;
    private long end;

    RecentOctets(int capacity) {
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

    /** {@return the offset of the oldest octet still here} */
    long start() {
        return Math.max(0, end - ring.length);
    }

    /** {@return the offset after the newest octet} */
    long end() {
        return end;
    }

    /** {@return the octet at {@code offset} as 0-255, or -1 where it is not here} */
    int at(long offset) {
        return offset < start() || offset >= end ? -1 : ring[(int) (offset % ring.length)] & 0xFF;
    }

    /** {@return the offset of the first {@code octets} that are still here, or -1} */
    long find(byte[] octets) {
        for (long offset = start(); offset + octets.length <= end; offset++) {
            int matched = 0;
            while (matched < octets.length && at(offset + matched) == (octets[matched] & 0xFF)) {
                matched++;
            }
            if (matched == octets.length) {
                return offset;
            }
        }
        return -1;
    }
}

package dev.sluice.testkit;

import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/** Ways to split a body into chunks. */
public final class Splits {
    private Splits() {}

    /** One way to split a body: the ends of the chunks. Chunks may be empty; the last one ends at the body's size. */
    public static final class Partition {
        private final int[] ends;

        private Partition(int... ends) {
            this.ends = ends;
        }

        public int count() {
            return ends.length;
        }

        /** {@return the index of the first byte of chunk {@code i}} */
        public int from(int i) {
            return i == 0 ? 0 : ends[i - 1];
        }

        /** {@return the index after the last byte of chunk {@code i}} */
        public int to(int i) {
            return ends[i];
        }

        /** {@return chunk {@code i} of {@code body}; the caller must release it} */
        public ByteBuf chunk(byte[] body, int i, BufferKind kind) {
            return kind.wrap(body, from(i), to(i));
        }

        /** {@return the chunks of {@code body}; the caller must release them} */
        public List<ByteBuf> chunks(byte[] body, BufferKind kind) {
            return IntStream.range(0, ends.length)
                    .mapToObj(i -> chunk(body, i, kind))
                    .toList();
        }

        /** {@return this partition with empty chunks before, between and after its chunks} */
        public Partition withEmptyChunks() {
            int[] more = new int[2 * ends.length + 1];
            for (int i = 0; i < ends.length; i++) {
                more[2 * i + 1] = ends[i];
                more[2 * i + 2] = ends[i];
            }
            return new Partition(more);
        }

        /** {@return the ends of the chunks, for messages; of more than 40 chunks, only the first 40 ends} */
        @Override
        public String toString() {
            return ends.length <= 40
                    ? "cut at " + Arrays.toString(ends)
                    : "cut into " + ends.length + " chunks at " + Arrays.toString(Arrays.copyOf(ends, 40)) + "...";
        }
    }

    /** {@return the partition into one chunk} */
    public static Partition whole(int size) {
        return new Partition(size);
    }

    /** {@return the partition into two chunks; one may be empty} */
    public static Partition at(int size, int cut) {
        return new Partition(cut, size);
    }

    /** {@return all {@code size + 1} partitions into two chunks} */
    public static List<Partition> twoWay(int size) {
        List<Partition> all = new ArrayList<>(size + 1);
        for (int cut = 0; cut <= size; cut++) {
            all.add(at(size, cut));
        }
        return all;
    }

    /** {@return the partitions into two chunks with the cut within {@code radius} of one of {@code places}} */
    public static List<Partition> twoWayNear(int size, int radius, int... places) {
        boolean[] cuts = new boolean[size + 1];
        for (int place : places) {
            for (int cut = Math.max(0, place - radius); cut <= Math.min(size, place + radius); cut++) {
                cuts[cut] = true;
            }
        }
        List<Partition> all = new ArrayList<>();
        for (int cut = 0; cut <= size; cut++) {
            if (cuts[cut]) {
                all.add(at(size, cut));
            }
        }
        return all;
    }

    /** {@return the partition into chunks of {@code chunk} bytes; the last one may be smaller} */
    public static Partition uniform(int size, int chunk) {
        int count = Math.max(1, (size + chunk - 1) / chunk);
        int[] ends = new int[count];
        for (int i = 0; i < count; i++) {
            ends[i] = (int) Math.min(size, (i + 1L) * chunk);
        }
        return new Partition(ends);
    }

    /** {@return the uniform partitions for every chunk size from 1 to {@code largest}, but at most {@code size}} */
    public static List<Partition> uniforms(int size, int largest) {
        List<Partition> all = new ArrayList<>();
        for (int chunk = 1; chunk <= Math.min(Math.max(1, size), largest); chunk++) {
            all.add(uniform(size, chunk));
        }
        return all;
    }
}

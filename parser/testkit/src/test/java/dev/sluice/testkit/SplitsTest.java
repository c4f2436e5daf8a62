package dev.sluice.testkit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class SplitsTest {
    @Test
    void chunks_concatenated_equalBody() {
        SplittableRandom random = new SplittableRandom(1);
        for (int size : new int[] {0, 1, 2, 7, 50}) {
            byte[] body = new byte[size];
            for (int i = 0; i < size; i++) {
                body[i] = (byte) i;
            }
            List<Splits.Partition> all = new ArrayList<>(Splits.twoWay(size));
            all.addAll(Splits.uniforms(size, 60));
            all.addAll(Splits.twoWayNear(size, 2, 0, size / 2, size));
            all.add(Splits.whole(size));
            for (int i = 0; i < 100; i++) {
                all.add(Splits.random(size, 5, random));
            }
            List<Splits.Partition> more =
                    all.stream().map(Splits.Partition::withEmptyChunks).toList();
            all.addAll(more);
            for (Splits.Partition partition : all) {
                ByteArrayOutputStream joined = new ByteArrayOutputStream();
                for (int i = 0; i < partition.count(); i++) {
                    joined.write(body, partition.from(i), partition.to(i) - partition.from(i));
                }
                assertArrayEquals(body, joined.toByteArray(), partition.toString());
            }
        }
    }

    @Test
    void twoWay_hasOneSplitPerPosition() {
        assertEquals(11, Splits.twoWay(10).size());
        assertEquals(10, Splits.uniforms(10, 100).size());
        assertEquals(6, Splits.twoWayNear(10, 1, 0, 5, 11).size());
        assertEquals(1, Splits.twoWay(0).size());
    }

    @Test
    void withEmptyChunks_surroundsEveryChunk() {
        Splits.Partition partition = Splits.at(4, 1).withEmptyChunks();
        assertEquals("cut at [0, 1, 1, 4, 4]", partition.toString());
        assertTrue(Splits.uniform(100, 1).toString().startsWith("cut into 100 chunks"));
    }
}

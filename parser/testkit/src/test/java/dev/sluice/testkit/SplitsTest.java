package dev.sluice.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class SplitsTest {
    @Test
    void splits_areComplete() {
        assertEquals(11, Splits.twoWay(10).size());
        assertEquals(10, Splits.uniforms(10, 100).size());
        assertEquals(6, Splits.twoWayNear(10, 1, 0, 5, 11).size());
        assertEquals(1, Splits.twoWay(0).size());
    }
}

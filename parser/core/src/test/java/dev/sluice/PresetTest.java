package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException.Reason;
import dev.sluice.header.Deviations;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

class PresetTest {
    private static Set<Deviation> all(Predicate<Deviation> which) {
        EnumSet<Deviation> all = EnumSet.allOf(Deviation.class);
        all.removeIf(which.negate());
        return all;
    }

    /** There are more deviations than bits in an int, so a mistake would mix up two of them. */
    @Test
    void everyDeviation_isReportedSeparately() {
        EnumSet<Deviation> all = EnumSet.allOf(Deviation.class);
        assertTrue(all.size() > Integer.SIZE && all.size() <= Long.SIZE, all.size() + " kinds");
        Deviations deviations = new Deviations(Preset.STRICT.reporting(all.toArray(new Deviation[0])), List.of());
        for (Deviation kind : all) {
            assertEquals(EnumSet.complementOf(EnumSet.of(kind)), all(Preset.COMPATIBLE.refusing(kind)::accepts));
            assertTrue(deviations.accept(kind, -1, 1) && deviations.accept(kind, 0, 2));
        }
        assertEquals(2 * all.size(), deviations.count());
        for (Deviation kind : all) {
            assertTrue(deviations.accept(kind, -1, 3) && deviations.accept(kind, 0, 4));
        }
        assertEquals(2 * all.size(), deviations.count());
    }

    @Test
    void changesOfOneDeviation_lastOneApplies() {
        for (Deviation deviation : Deviation.values()) {
            Preset preset = Preset.STANDARD.refusing(deviation).reporting(deviation);
            assertTrue(preset.reports(deviation));
            preset = preset.accepting(deviation);
            assertTrue(preset.accepts(deviation) && !preset.reports(deviation));
            preset = preset.refusing(deviation);
            assertFalse(preset.accepts(deviation));
        }
    }

    @Test
    void change_doesNotAffectTheConstants() {
        Preset changed = Preset.STANDARD.refusing(Deviation.PREAMBLE);
        assertTrue(Preset.STANDARD.accepts(Deviation.PREAMBLE));
        assertNotEquals(Preset.STANDARD, changed);
        assertEquals(Preset.STANDARD, changed.reporting(Deviation.PREAMBLE));
        assertEquals(
                Preset.STANDARD.hashCode(),
                changed.reporting(Deviation.PREAMBLE).hashCode());
        assertEquals("STANDARD", Preset.STANDARD.toString());
        assertEquals("STANDARD+", changed.toString());
    }

    @Test
    void change_isUsedByTheDecoder() {
        String folded = Verdict.headers(Verdict.A + "X: a\r\n^ b\r\n");
        Verdict.assertRejected(Preset.STANDARD.refusing(Deviation.FOLDED_HEADER), folded, Reason.MALFORMED_HEADER, 0);
        Verdict.assertAccepted(Preset.STANDARD.accepting(Deviation.FOLDED_HEADER), Verdict.unmarked(folded));
        Verdict.assertReported(Preset.STRICT.reporting(Deviation.FOLDED_HEADER), folded, Deviation.FOLDED_HEADER, 0);
    }
}

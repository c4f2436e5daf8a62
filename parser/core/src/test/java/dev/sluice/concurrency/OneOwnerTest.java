package dev.sluice.concurrency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.FormOptions;
import dev.sluice.form.FormPart;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartContent;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.form.Upload;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests of the ownership of a part: one thread moves it, two detach it, and a fourth closes its form. Moving and detaching succeed at most
 * once.
 */
@Tag("sized")
class OneOwnerTest {
    private static final int ROUNDS = 1000;
    private static final String CONTENT = "content ".repeat(100);

    private enum Owner {
        MOVED,
        DETACHED,
        CLOSED,
        NONE
    }

    @TempDir
    Path root;

    private static MultipartForm form(FormOptions options) throws IOException {
        return new Upload().file("f", "f", CONTENT).read(options);
    }

    private static Owner move(FormPart part, Path target) throws IOException {
        try {
            part.moveTo(target);
            return Owner.MOVED;
        } catch (IllegalStateException e) {
            return Owner.NONE;
        }
    }

    private static Owner detach(FormPart part) throws IOException {
        try (PartContent content = part.detach()) {
            assertEquals(CONTENT, new String(content.bytes(), StandardCharsets.US_ASCII));
            return Owner.DETACHED;
        } catch (IllegalStateException e) {
            return Owner.NONE;
        }
    }

    private static Owner close(MultipartForm form) throws IOException {
        form.close();
        return Owner.CLOSED;
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 1 << 20})
    void moveAndDetach_duringClose_haveAtMostOneWinner(long threshold) throws Exception {
        MemoryBudget budget = MemoryBudget.of(1 << 20);
        Map<Owner, Integer> owners = new EnumMap<>(Owner.class);
        try (SpoolDirectory spool = SpoolDirectory.builder(root.resolve("spool"))
                        .keepFreeBytes(0)
                        .open();
                Race race = new Race(4)) {
            FormOptions options =
                    FormOptions.builder(spool, budget).spillThreshold(threshold).build();
            int rounds = Race.times(ROUNDS);
            for (int round = 0; round < rounds || isOneSided(owners) && round < 20 * rounds; round++) {
                MultipartForm form = form(options);
                FormPart part = Objects.requireNonNull(form.part("f"));
                assertEquals(threshold > 0, part.isInMemory());
                Path target = root.resolve("target");
                Callable<Owner> moving = () -> move(part, target);
                Callable<Owner> detaching = () -> detach(part);
                Callable<Owner> closing = () -> close(form);
                List<Owner> outcome = race.run(moving, detaching, detaching, closing);
                assertTrue(
                        Collections.frequency(outcome, Owner.MOVED) + Collections.frequency(outcome, Owner.DETACHED)
                                <= 1,
                        outcome::toString);
                boolean moved = outcome.contains(Owner.MOVED);
                assertEquals(moved, Files.exists(target));
                if (moved) {
                    assertEquals(CONTENT, Files.readString(target));
                    Files.delete(target);
                }
                outcome.forEach(owner -> owners.merge(owner, 1, Integer::sum));
                assertEquals(0, budget.used());
                assertEquals(0, spool.bytes());
                assertEquals(0, spool.files());
                try (Stream<Path> left = Files.list(spool.path())) {
                    assertEquals(List.of(), left.toList());
                }
            }
        }
        assertFalse(isOneSided(owners), owners::toString);
    }

    /** {@return whether moving or detaching has never succeeded, as can happen on a busy machine} */
    private static boolean isOneSided(Map<Owner, Integer> owners) {
        return !owners.keySet().containsAll(List.of(Owner.MOVED, Owner.DETACHED));
    }

    @Test
    void read_duringClose_returnsAllBytesOrThrows() throws Exception {
        MemoryBudget budget = MemoryBudget.of(1 << 20);
        try (SpoolDirectory spool = SpoolDirectory.builder(root.resolve("spool"))
                        .keepFreeBytes(0)
                        .open();
                Race race = new Race(2)) {
            FormOptions options =
                    FormOptions.builder(spool, budget).spillThreshold(0).build();
            for (int round = 0; round < Race.times(ROUNDS); round++) {
                MultipartForm form = form(options);
                FormPart part = Objects.requireNonNull(form.part("f"));
                Callable<Owner> reading = () -> {
                    try {
                        assertEquals(CONTENT, part.text());
                        return Owner.NONE;
                    } catch (IllegalStateException | IOException e) {
                        return Owner.NONE;
                    }
                };
                Callable<Owner> closing = () -> close(form);
                race.run(reading, closing);
                assertEquals(0, spool.files());
            }
        }
    }
}

package dev.sluice.s3;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/**
 * A model of the commit protocol, explored exhaustively.
 *
 * <p>It has one form of two files, its node, two sweepers and an application that deletes the form. A second form with its node would
 * share no key with the first, and no variable of a sweeper: each sweeper may start on a form at any time, because its clock may be wrong.
 * So the states of two forms are the pairs of the states of one, and exploring one form explores both.
 *
 * <p>A request that was sent may be carried out at any later time, any number of times or never, and its response may be lost. A read
 * may return any value that the key ever had, and absent. A node may crash at any time.
 */
class ProtocolModelTest {
    /** The variables of a state: each is a byte of an array, so that states are compared by content. */
    private static final class Model {
        final List<String> names = new ArrayList<>();
        final List<Step> steps = new ArrayList<>();
        final List<Map.Entry<String, Function<Model, Boolean>>> invariants = new ArrayList<>();
        byte[] state = new byte[0];

        int get(String name) {
            int index = index(name);
            return state[index];
        }

        void set(String name, int value) {
            int index = index(name);
            state[index] = (byte) value;
        }

        boolean is(String name) {
            return get(name) != 0;
        }

        private int index(String name) {
            int index = names.indexOf(name);
            if (index < 0) {
                names.add(name);
                state = Arrays.copyOf(state, names.size());
                index = names.size() - 1;
            }
            return index;
        }

        /** Adds a step with one variant for each choice, from 0 to {@code choices} - 1. */
        void step(String name, int choices, Function<Model, Boolean> guard, BiConsumer<Model, Integer> action) {
            for (int choice = 0; choice < choices; choice++) {
                int chosen = choice;
                steps.add(new Step(
                        choices == 1 ? name : name + " " + choice, guard, model -> action.accept(model, chosen)));
            }
        }

        void step(String name, Function<Model, Boolean> guard, Consumer<Model> action) {
            step(name, 1, guard, (model, choice) -> action.accept(model));
        }

        void invariant(String name, Function<Model, Boolean> holds) {
            invariants.add(Map.entry(name, holds));
        }
    }

    private record Step(String name, Function<Model, Boolean> guard, Consumer<Model> action) {}

    private record Found(int states, String broken, List<String> trace) {}

    private record Key(ByteBuffer bytes) {
        static Key of(byte[] state) {
            return new Key(ByteBuffer.wrap(state.clone()));
        }
    }

    /** {@return the number of states, and a shortest way to one that breaks an invariant} */
    private static Found explore(Model model) {
        Map<Key, Map.Entry<Key, String>> seen = new HashMap<>();
        ArrayDeque<Key> open = new ArrayDeque<>();
        Key first = Key.of(model.state);
        seen.put(first, Map.entry(first, ""));
        open.add(first);
        while (!open.isEmpty()) {
            Key from = open.remove();
            for (Step step : model.steps) {
                model.state = from.bytes.array().clone();
                if (!step.guard.apply(model)) {
                    continue;
                }
                step.action.accept(model);
                Key to = Key.of(model.state);
                if (seen.putIfAbsent(to, Map.entry(from, step.name)) != null) {
                    continue;
                }
                open.add(to);
                for (Map.Entry<String, Function<Model, Boolean>> invariant : model.invariants) {
                    if (!invariant.getValue().apply(model)) {
                        return new Found(seen.size(), invariant.getKey(), trace(seen, first, to));
                    }
                }
            }
        }
        return new Found(seen.size(), "", List.of());
    }

    private static List<String> trace(Map<Key, Map.Entry<Key, String>> seen, Key first, Key last) {
        List<String> trace = new ArrayList<>();
        for (Key at = last; !at.equals(first); at = seen.get(at).getKey()) {
            trace.add(0, seen.get(at).getValue());
        }
        return trace;
    }

    private static final int ABSENT = 0;
    private static final int RECORD = 1;
    private static final int TOMBSTONE = 2;

    private static final int OPEN = 0;
    private static final int COMMITTING = 1;
    private static final int CONFIRMED = 2;
    private static final int GONE = 3;

    /** Mistakes in the protocol. The model must find each of them. */
    private enum Mistake {
        NONE,
        /** Files are deleted after the write of the tombstone, without reading it back. */
        TRUSTED_TOMBSTONE,
        /** Files are deleted because the record is absent. */
        DELETION_BY_ABSENCE,
        /** An absent record is taken for a failed commit, and the node deletes its files. */
        FAILURE_BY_ABSENCE,
        /** The record is written without a condition. */
        UNCONDITIONAL_COMMIT,
        /** Tombstones are removed while a commit may be under way. */
        EARLY_REMOVAL,
        /** The record is written before all files are stored. */
        EARLY_COMMIT
    }

    private static Model protocol(Mistake mistake) {
        Model m = new Model();
        for (String name :
                List.of("key", "hadRecord", "hadTombstone", "node", "old", "sentCommit", "deletes", "deleter")) {
            m.set(name, 0);
        }
        for (int file = 0; file < 2; file++) {
            String stored = "file" + file;
            String sent = "sent" + file;
            String known = "known" + file;
            String deleting = "deleting" + file;
            List.of(stored, sent, known, deleting).forEach(name -> m.set(name, 0));
            m.step("send " + file, s -> s.get("node") == OPEN && !s.is(sent) && !s.is("old"), s -> s.set(sent, 1));
            m.step("store " + file, 2, s -> s.is(sent) && !s.is("old"), (s, responded) -> {
                s.set(stored, 1);
                s.set(known, Math.max(s.get(known), responded));
            });
            m.step("delete " + file, s -> s.is(deleting), s -> s.set(stored, 0));
        }
        m.step("crash or give up", s -> s.get("node") < CONFIRMED, s -> s.set("node", GONE));
        // After the age of a tombstone no request of the form is under way, and its node commits nothing.
        m.step("grow old", s -> !s.is("old"), s -> {
            s.set("old", 1);
            s.set("sentCommit", mistake == Mistake.EARLY_REMOVAL ? s.get("sentCommit") : 0);
            s.set("node", s.get("node") < CONFIRMED ? GONE : s.get("node"));
        });
        m.step(
                "send commit",
                s -> s.get("node") == OPEN
                        && (mistake == Mistake.EARLY_COMMIT ? s.is("sent0") : s.is("known0") && s.is("known1")),
                s -> {
                    s.set("sentCommit", 1);
                    s.set("node", COMMITTING);
                });
        m.step("commit", 2, s -> s.is("sentCommit"), (s, responded) -> {
            if (s.get("key") == ABSENT || mistake == Mistake.UNCONDITIONAL_COMMIT) {
                s.set("key", RECORD);
                s.set("hadRecord", 1);
                if (responded == 1 && s.get("node") == COMMITTING) {
                    s.set("node", CONFIRMED);
                }
            }
        });
        m.step("node reads", 3, s -> s.get("node") == COMMITTING, (s, value) -> {
            if (value == RECORD && s.is("hadRecord")) {
                s.set("node", CONFIRMED);
            } else if (value == TOMBSTONE && s.is("hadTombstone")) {
                s.set("node", GONE);
            } else if (value == ABSENT && mistake == Mistake.FAILURE_BY_ABSENCE) {
                s.set("node", GONE);
                s.set("deleting0", 1);
            }
        });
        for (int sweeper = 0; sweeper < 2; sweeper++) {
            String at = "sweeper" + sweeper;
            String sent = "sentTombstone" + sweeper;
            m.set(at, 0);
            m.set(sent, 0);
            m.step(at + " reads", 3, s -> s.get(at) < 2, (s, value) -> {
                if (value == TOMBSTONE && s.is("hadTombstone")) {
                    s.set(at, 2);
                } else if (value == RECORD && s.is("hadRecord")) {
                    s.set(at, 0); // deletes only intents
                } else if (value == ABSENT) {
                    s.set(sent, 1);
                    s.set(at, mistake == Mistake.DELETION_BY_ABSENCE ? 2 : 1);
                }
            });
            m.step(at + " ends", s -> s.is(sent), s -> {
                if (s.get("key") == ABSENT) {
                    s.set("key", TOMBSTONE);
                    s.set("hadTombstone", 1);
                }
                if (mistake == Mistake.TRUSTED_TOMBSTONE) {
                    s.set(at, 2);
                }
            });
            m.step(at + " deletes files", s -> s.get(at) == 2, s -> {
                s.set("deleting0", 1);
                s.set("deleting1", 1);
                s.set(at, 3);
            });
            m.step(
                    at + " removes tombstone",
                    s -> s.get(at) == 3 && (s.is("old") || mistake == Mistake.EARLY_REMOVAL),
                    s -> s.set("deletes", 1));
            m.step(at + " starts again", s -> s.get(at) == 3, s -> s.set(at, 0));
        }
        m.step("remove tombstone", s -> s.is("deletes"), s -> s.set("key", ABSENT));
        m.step("ask to delete", s -> s.get("node") == CONFIRMED && !s.is("deleter"), s -> s.set("deleter", 1));
        m.step("replace record", s -> s.is("deleter") && s.get("key") == RECORD, s -> {
            s.set("key", TOMBSTONE);
            s.set("hadTombstone", 1);
        });
        m.invariant(
                "a form confirmed with status 200 exists until it is deleted",
                s -> s.get("node") != CONFIRMED || s.is("deleter") || s.get("key") == RECORD);
        m.invariant(
                "a form that exists has all its files", s -> s.get("key") != RECORD || s.is("file0") && s.is("file1"));
        return m;
    }

    @Test
    void protocol_allStates_losesNoFormAndShowsNoPartOfOne() {
        Found found = explore(protocol(Mistake.NONE));
        assertEquals("", found.broken, () -> String.join(", ", found.trace));
        assertTrue(found.states > 1000, found.states + " states");
    }

    @Test
    void protocol_withAMistake_isRejected() {
        for (Mistake mistake : Mistake.values()) {
            if (mistake != Mistake.NONE) {
                assertTrue(!explore(protocol(mistake)).broken.isEmpty(), mistake + " was not found");
            }
        }
    }
}

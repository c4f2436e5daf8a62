package dev.sluice.concurrency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.task.SerialTask;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jetbrains.lincheck.Lincheck;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests of a task that several threads trigger, in many schedules of the threads. */
@Tag("sized")
class SerialTaskTest {
    private static final int THREADS = 3;

    @Test
    void trigger_fromSeveralThreads_runsSeriallyAndLosesNone() {
        Lincheck.runConcurrentTest(Race.times(200), () -> {
            Queue<Integer> added = new ConcurrentLinkedQueue<>();
            List<Integer> taken = new ArrayList<>(); // not thread-safe: the runs must not overlap
            boolean[] running = new boolean[1];
            SerialTask task = new SerialTask(() -> {
                if (running[0]) {
                    throw new AssertionError("two threads run the task");
                }
                running[0] = true;
                for (Integer number; (number = added.poll()) != null; ) {
                    taken.add(number);
                }
                running[0] = false;
            });
            Callable<Void> adding = () -> {
                added.add(1);
                task.triggerAndRun();
                return null;
            };
            Race.explore(adding, adding, adding);
            if (taken.size() != THREADS) {
                throw new AssertionError(taken.size() + " of " + THREADS + " were taken");
            }
        });
    }

    /** An executor has discarded the run of the first trigger. */
    @Test
    void run_afterATriggerThatIsNeverRun_takesOverAtAnyTime() {
        Lincheck.runConcurrentTest(Race.times(200), () -> {
            Queue<Integer> added = new ConcurrentLinkedQueue<>();
            SerialTask task = new SerialTask(added::poll);
            Callable<Void> discarding = () -> {
                task.trigger();
                return null;
            };
            Callable<Void> takingOver = () -> {
                added.add(1);
                task.trigger();
                task.run();
                return null;
            };
            Race.explore(discarding, takingOver);
            if (!added.isEmpty()) {
                throw new AssertionError("the work was not done");
            }
        });
    }

    @Test
    void trigger_duringRun_repeatsTaskOnce() {
        List<SerialTask> self = new ArrayList<>();
        int[] runs = new int[1];
        SerialTask task = new SerialTask(() -> {
            runs[0]++;
            if (runs[0] == 1) {
                assertFalse(self.get(0).trigger());
                self.get(0).triggerAndRun();
            }
        });
        self.add(task);
        assertTrue(task.trigger());
        task.run();
        assertEquals(2, runs[0]);
        assertTrue(task.trigger(), "the task is not idle");
    }

    @Test
    void run_calledTwiceForOneTrigger_runsTaskOnce() {
        int[] runs = new int[1];
        SerialTask task = new SerialTask(() -> runs[0]++);
        assertTrue(task.trigger());
        task.run();
        task.run();
        assertEquals(1, runs[0]);
    }
}

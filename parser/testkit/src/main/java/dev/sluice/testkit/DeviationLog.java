package dev.sluice.testkit;

import java.util.ArrayList;
import java.util.List;

/** The deviations of one body that the preset accepts, each kind once per part. */
final class DeviationLog {
    private final PresetRules rules;
    private final List<Outcome.Deviation> reported = new ArrayList<>(2);
    private final List<Outcome.Deviation> silent = new ArrayList<>(2);

    DeviationLog(PresetRules rules) {
        this.rules = rules;
    }

    boolean accepts(String kind) {
        return rules.accepts(kind);
    }

    /** Records a deviation, or throws a {@link Failure} if the preset rejects it. */
    void met(String kind, String reason, int part, long offset) {
        if (rules.reported().contains(kind)) {
            addOnce(reported, new Outcome.Deviation(kind, part, offset));
        } else if (rules.silent().contains(kind)) {
            addOnce(silent, new Outcome.Deviation(kind, part, offset));
        } else {
            throw new Failure(reason, offset, part);
        }
    }

    private static void addOnce(List<Outcome.Deviation> list, Outcome.Deviation deviation) {
        for (Outcome.Deviation before : list) {
            if (before.part() == deviation.part() && before.kind().equals(deviation.kind())) {
                return;
            }
        }
        list.add(deviation);
    }

    List<Outcome.Deviation> reported() {
        return List.copyOf(reported);
    }

    List<Outcome.Deviation> silent() {
        return List.copyOf(silent);
    }

    /** The rejection of a body. It has no stack trace, because tests reject hundreds of thousands of bodies. */
    static final class Failure extends RuntimeException {
        private static final long serialVersionUID = 1L;

        private final String reason;
        private final long offset;
        private final int part;

        Failure(String reason, long offset, int part) {
            super(reason, null, false, false);
            this.reason = reason;
            this.offset = offset;
            this.part = part;
        }

        Outcome.Error error() {
            return new Outcome.Error(reason, offset, part);
        }
    }
}

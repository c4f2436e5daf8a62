package dev.sluice;

import java.util.ArrayList;
import java.util.List;

/** What was accepted and is to be reported: one kind once per part, a bounded list of them, and a count of all. */
final class Deviations {
    private static final int MAX_REPORTED = 100;

    private final Preset preset;
    final List<ReportedDeviation> reported = new ArrayList<>(0);
    long count;

    /** Kinds met outside of any part, and in part {@link #part}, one bit each. */
    long outside;

    long inside;
    int part = -1;

    Deviations(Preset preset, List<ReportedDeviation> ofContentType) {
        this.preset = preset;
        this.reported.addAll(ofContentType);
        this.count = ofContentType.size();
    }

    /** {@return whether the deviation is accepted; it has then been reported, where that is asked for} */
    boolean accept(Deviation kind, int partIndex, long offset) {
        if (preset.reports(kind) && isNew(kind, partIndex)) {
            count++;
            if (reported.size() < MAX_REPORTED) {
                reported.add(new ReportedDeviation(kind, partIndex, offset));
            }
        }
        return preset.accepts(kind);
    }

    /** Throws the refusal of the deviation unless it is accepted. */
    void require(Deviation kind, int partIndex, long offset, String detail) throws Refusal {
        if (!accept(kind, partIndex, offset)) {
            throw new Refusal(kind.reason(), offset, detail);
        }
    }

    private boolean isNew(Deviation kind, int partIndex) {
        if (partIndex >= 0 && partIndex != part) {
            part = partIndex;
            inside = 0;
        }
        long bit = 1L << kind.ordinal();
        long seen = partIndex < 0 ? outside : inside;
        outside |= partIndex < 0 ? bit : 0;
        inside |= partIndex < 0 ? 0 : bit;
        return (seen & bit) == 0;
    }

    List<ReportedDeviation> list() {
        return List.copyOf(reported);
    }
}

package dev.sluice.header;

import dev.sluice.Deviation;
import dev.sluice.Preset;
import dev.sluice.ReportedDeviation;
import java.util.ArrayList;
import java.util.List;

/**
 * The accepted deviations of one body that the preset reports. Each kind is reported once per part. The list has a maximum size, but all
 * deviations are counted.
 */
public final class Deviations {
    private static final int MAX_REPORTED = 100;

    private final Preset preset;
    final List<ReportedDeviation> reported = new ArrayList<>(0);
    long count;

    /** The kinds found outside of parts, one bit each. */
    long outside;

    /** The kinds found in part {@link #part}, one bit each. */
    long inside;

    int part = -1;

    public Deviations(Preset preset, List<ReportedDeviation> ofContentType) {
        this.preset = preset;
        this.reported.addAll(ofContentType);
        this.count = ofContentType.size();
    }

    /** {@return whether the deviation is accepted} Reports it if the preset requires this. */
    public boolean accept(Deviation kind, int partIndex, long offset) {
        if (preset.reports(kind) && isNew(kind, partIndex)) {
            count++;
            if (reported.size() < MAX_REPORTED) {
                reported.add(new ReportedDeviation(kind, partIndex, offset));
            }
        }
        return preset.accepts(kind);
    }

    /** Reports the deviation if it is accepted, and rejects the body otherwise. */
    public void require(Deviation kind, int partIndex, long offset, String detail) throws Rejection {
        if (!accept(kind, partIndex, offset)) {
            throw new Rejection(kind.reason(), offset, detail);
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

    /** {@return a copy of the reported deviations, at most 100} */
    public List<ReportedDeviation> list() {
        return List.copyOf(reported);
    }

    /** {@return the number of reported deviations, including those that are not listed} */
    public long count() {
        return count;
    }
}

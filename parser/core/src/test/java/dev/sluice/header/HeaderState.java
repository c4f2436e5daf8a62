package dev.sluice.header;

import dev.sluice.ReportedDeviation;
import dev.sluice.StateHash;

/** The part of {@link StateHash} for the classes of this package. */
public final class HeaderState {
    private HeaderState() {}

    public static void add(Deviations deviations, StateHash hash) {
        for (ReportedDeviation each : deviations.reported) {
            hash.add(each.kind().ordinal()).add(each.partIndex()).add(each.offset());
        }
        hash.add(deviations.count).add(deviations.outside).add(deviations.inside);
        hash.add(deviations.inside == 0 ? -1 : deviations.part);
    }

    public static void add(PartRules rules, StateHash hash) {
        hash.add(rules.files);
    }

    public static void add(HeaderSection section, StateHash hash) {
        hash.add(section.state.ordinal())
                .add(section.totalBefore)
                .add(section.limit)
                .add(section.offset);
        hash.add(section.endOfSection).add(section.state == HeaderSection.State.DASHES ? section.lineStart : -1);
        int from = section.bytes.arrayOffset();
        hash.add(section.bytes.array(), from, from + section.scanned);
        for (int i = 0; i < section.count * HeaderSection.SLOTS; i++) {
            hash.add(section.fields[i]);
        }
    }

    /** {@return everything that decides what the section does with the next byte, except the names of its fields} */
    public static String text(HeaderSection section) {
        int dashes = section.state == HeaderSection.State.DASHES ? section.scanned - section.lineStart : 0;
        return " " + section.state + " size " + section.scanned + " of " + section.limit + " fields " + section.count
                + " dashes " + dashes;
    }
}

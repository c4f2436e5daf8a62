package dev.sluice;

import dev.sluice.testkit.BufferKind;
import dev.sluice.testkit.Outcome;
import dev.sluice.testkit.PolicyRow;
import dev.sluice.testkit.PresetRules;
import dev.sluice.testkit.ReferenceParser;
import dev.sluice.testkit.Splits;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Compares the decoder with the reference parser for each row of the policy table, in each preset and with several splits. */
class PolicyRowsTest {
    /** The number of bytes up to which a body is split at every byte. */
    private static final int LARGE = 1000;

    /** {@return the preset of a column of the table} */
    private static Preset preset(PresetRules rules) {
        if (PresetRules.NAMES.contains(rules.name())) {
            return List.of(Preset.STANDARD, Preset.STRICT, Preset.COMPATIBLE)
                    .get(PresetRules.NAMES.indexOf(rules.name()));
        }
        return Preset.COMPATIBLE.reporting(
                rules.reported().stream().map(Deviation::valueOf).toArray(Deviation[]::new));
    }

    @Test
    void everyRow_hasTheSameResultForEverySplit() {
        for (PolicyRow row : PolicyRow.all()) {
            int size = row.body().length;
            List<Splits.Partition> few = List.of(Splits.whole(size), Splits.uniform(size, 1));
            List<Splits.Partition> all = new ArrayList<>(few);
            all.addAll(size > LARGE ? List.of(Splits.uniform(size, 61)) : Splits.twoWay(size));
            Set<Object> different = new HashSet<>();
            for (String column : row.expected().keySet()) {
                PresetRules rules = PolicyRow.rules(column);
                Preset preset = preset(rules);
                Outcome outcome = ReferenceParser.parse(row.contentType(), row.body(), rules, row.limits());
                boolean isDifferent = different.add(List.of(outcome.verdict(), outcome.deviations(), outcome.silent()));
                for (Splits.Partition partition : isDifferent ? all : few) {
                    ReferenceResult.assertSame(
                            outcome,
                            row.contentType(),
                            row.body(),
                            row.limits(),
                            preset,
                            partition.chunks(row.body(), BufferKind.HEAP),
                            List.of(row.title(), partition));
                }
            }
        }
    }
}

package dev.sluice.fuzz;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What can be fuzzed. */
enum Target {
    /** Every partition means the same. */
    PARTITION(512, List.of(), PartitionTarget::fuzzerTestOneInput),
    /** Reading undoes writing. */
    ROUND_TRIP(512, List.of(), RoundTripTarget::fuzzerTestOneInput),
    /** The reference parser says the same. */
    REFERENCE(512, List.of("dev.sluice.testkit.Reference*"), ReferenceTarget::fuzzerTestOneInput),
    /** Work, memory and limits. */
    INVARIANT(1024, List.of(), InvariantTarget::fuzzerTestOneInput),
    /** Forms, sinks and files that fail. */
    FORM(512, List.of(), FormTarget::fuzzerTestOneInput),
    /** Content-Type and Content-Disposition. */
    HEADER(256, List.of("dev.sluice.testkit.Reference*"), HeaderTarget::fuzzerTestOneInput),
    /** Requests behind the servlet filter. */
    FILTER(512, List.of("dev.sluice.servlet.*"), FilterTarget::fuzzerTestOneInput),
    /** Each of the others, as the first byte says: for a short run. */
    EVERY(512, List.of("dev.sluice.testkit.Reference*", "dev.sluice.servlet.*"), EveryTarget::fuzzerTestOneInput);

    /** One execution. */
    @FunctionalInterface
    interface Execution {
        void run(byte[] bytes) throws Exception;
    }

    private final int largest;
    private final List<String> alsoInstrumented;
    private final Execution execution;

    Target(int largest, List<String> alsoInstrumented, Execution execution) {
        this.largest = largest;
        this.alsoInstrumented = alsoInstrumented;
        this.execution = execution;
    }

    static Target of(String name) {
        return valueOf(name.toUpperCase(Locale.ROOT).replace('-', '_'));
    }

    /** {@return those that look at one thing each} */
    static List<Target> single() {
        return List.of(PARTITION, ROUND_TRIP, REFERENCE, INVARIANT, FORM, HEADER, FILTER);
    }

    /** {@return the most bytes of an input} */
    int largest() {
        return largest;
    }

    /** {@return the classes whose branches lead the fuzzer, beside those of the library} */
    List<String> alsoInstrumented() {
        return alsoInstrumented;
    }

    void run(byte[] bytes) throws Exception {
        execution.run(bytes);
    }

    /** {@return the class that the fuzzer calls} */
    String className() {
        return Stream.of(name().split("_"))
                .map(word -> word.charAt(0) + word.substring(1).toLowerCase(Locale.ROOT))
                .collect(Collectors.joining("", "dev.sluice.fuzz.", "Target"));
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}

package dev.sluice.fuzz;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The fuzz targets. */
enum Target {
    /** Every split has the same result. */
    PARTITION(512, List.of(), PartitionTarget::fuzzerTestOneInput),
    /** Decoding reverses encoding. */
    ROUND_TRIP(512, List.of(), RoundTripTarget::fuzzerTestOneInput),
    /** The decoder agrees with the reference parser. */
    REFERENCE(512, List.of("dev.sluice.testkit.Reference*"), ReferenceTarget::fuzzerTestOneInput),
    /** Bounds on work and memory, and limits. */
    INVARIANT(1024, List.of(), InvariantTarget::fuzzerTestOneInput),
    /** Forms, sinks and files with failures. */
    FORM(512, List.of(), FormTarget::fuzzerTestOneInput),
    /** Content-Type and Content-Disposition. */
    HEADER(256, List.of("dev.sluice.testkit.Reference*"), HeaderTarget::fuzzerTestOneInput),
    /** Requests through the servlet filter. */
    FILTER(512, List.of("dev.sluice.servlet.*"), FilterTarget::fuzzerTestOneInput),
    /** All of the others, chosen by the first byte, for a short run. */
    EVERY(512, List.of("dev.sluice.testkit.Reference*", "dev.sluice.servlet.*"), EveryTarget::fuzzerTestOneInput);

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

    /** {@return all targets except {@link #EVERY}} */
    static List<Target> single() {
        return List.of(PARTITION, ROUND_TRIP, REFERENCE, INVARIANT, FORM, HEADER, FILTER);
    }

    /** {@return the maximum size of an input in bytes} */
    int largest() {
        return largest;
    }

    /** {@return the classes to instrument in addition to the library's} */
    List<String> alsoInstrumented() {
        return alsoInstrumented;
    }

    void run(byte[] bytes) throws Exception {
        execution.run(bytes);
    }

    /** {@return the name of the class that the fuzzer calls} */
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

package dev.sluice.fuzz;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The fuzz targets. */
enum Target {
    /** Every split has the same result. */
    PARTITION(512, false, PartitionTarget::fuzzerTestOneInput),
    /** Decoding reverses encoding. */
    ROUND_TRIP(512, false, RoundTripTarget::fuzzerTestOneInput),
    /** The decoder agrees with the reference parser. */
    REFERENCE(512, true, ReferenceTarget::fuzzerTestOneInput),
    /** Bounds on work and memory, and limits. */
    INVARIANT(1024, false, InvariantTarget::fuzzerTestOneInput),
    /** Forms, sinks and files with failures. */
    FORM(512, false, FormTarget::fuzzerTestOneInput),
    /** Content-Type and Content-Disposition. */
    HEADER(256, true, HeaderTarget::fuzzerTestOneInput),
    /** Requests through the servlet filter. */
    FILTER(512, false, FilterTarget::fuzzerTestOneInput),
    /** Any of the other targets, chosen by the first byte, for a short run. */
    EVERY(512, true, EveryTarget::fuzzerTestOneInput);

    @FunctionalInterface
    interface Execution {
        void run(byte[] bytes) throws Exception;
    }

    private final int largest;
    private final boolean usesReference;
    private final Execution execution;

    Target(int largest, boolean usesReference, Execution execution) {
        this.largest = largest;
        this.usesReference = usesReference;
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

    /** {@return whether the target compares with the reference parser, which then guides the fuzzer too} */
    boolean usesReference() {
        return usesReference;
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

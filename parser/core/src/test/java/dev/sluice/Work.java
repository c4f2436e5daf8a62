package dev.sluice;

/** Shows the tests of other packages how much work a decoder has done. */
public final class Work {
    private Work() {}

    /** {@return units of work so far: bytes looked at one by one, and probes of the search} */
    public static long steps(MultipartDecoder decoder) {
        return decoder.steps();
    }
}

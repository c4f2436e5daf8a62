package dev.sluice;

/** Throws any exception from a method that does not declare it. Callbacks in Kotlin or Groovy can do this. */
public final class Throwing {
    private Throwing() {}

    /** Never returns. Write {@code throw Throwing.<RuntimeException>unchecked(e)}. */
    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    public static <T extends Throwable> T unchecked(Throwable any) throws T {
        throw (T) any;
    }
}

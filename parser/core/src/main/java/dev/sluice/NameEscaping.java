package dev.sluice;

/**
 * The treatment of names and file names that a {@code Content-Disposition} cannot hold, or that common readers read differently.
 *
 * <p>The second group was found by comparing readers: backslashes, semicolons, slashes in file names, {@code name=}, {@code =?},
 * {@code &#}, percent escapes, blanks at either end, an empty name, and some others. {@link Preset#STRICT} accepts every name that is
 * written, without a deviation.
 */
public enum NameEscaping {
    /** Writes {@code "} as {@code %22}, and rejects everything else with an {@link IllegalArgumentException}. The default. */
    REJECT,
    /** Also writes CR and LF as {@code %0D} and {@code %0A}, as browsers do (WHATWG). */
    BROWSER,
    /** Writes {@code _} in place of each such character, and of an empty name. */
    REPLACE
}

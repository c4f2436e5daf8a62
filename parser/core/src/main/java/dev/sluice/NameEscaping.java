package dev.sluice;

/**
 * The treatment of names and file names that a {@code Content-Disposition} cannot contain, or on which common readers disagree.
 *
 * <p>Readers disagree on backslashes, semicolons, slashes in file names, {@code name=}, {@code =?}, {@code &#}, percent escapes, blanks at
 * either end, an empty name, and some others. {@link Preset#STRICT} accepts every written name without a deviation.
 */
public enum NameEscaping {
    /** Writes {@code "} as {@code %22}, and rejects all other such names with an {@link IllegalArgumentException}. The default. */
    REJECT,
    /** Like {@link #REJECT}, but writes CR and LF as {@code %0D} and {@code %0A}, as browsers do (WHATWG). */
    BROWSER,
    /** Writes {@code _} in place of each character that {@link #REJECT} escapes or rejects, and in place of an empty name. */
    REPLACE
}

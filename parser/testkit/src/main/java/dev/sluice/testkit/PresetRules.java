package dev.sluice.testkit;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The deviations that each preset accepts, by name. They are copied from {@code parser/docs/policy.md}, not read from
 * the library.
 *
 * @param name the name of the preset, for messages
 * @param silent the deviations that are accepted without a report
 * @param reported the deviations that are accepted and reported; deviations in neither set are rejected
 */
public record PresetRules(String name, Set<String> silent, Set<String> reported) {
    public static final List<String> NAMES = List.of("STANDARD", "STRICT", "COMPATIBLE");

    /** All deviations that the decoder can report; deviations of the form API are not included. */
    public static final List<String> DEVIATIONS = List.of(words("""
            BOUNDARY_CHARACTERS LONG_BOUNDARY LOOKALIKE_BOUNDARY COMMA_AFTER_MEDIA_TYPE REQUEST_CHARSET
            PREAMBLE EPILOGUE TRANSPORT_PADDING LOOKALIKE_DELIMITER DELIMITER_IN_HEADER SHARED_LINE_END
            FALSE_DELIMITER TEXT_AFTER_CLOSE_DELIMITER CLOSE_DELIMITER_AFTER_PREAMBLE BARE_LF
            BARE_LF_IN_HEADER FOLDED_HEADER PART_CONTENT_LENGTH TRANSFER_ENCODING UNDECODABLE_HEADER
            CONTROL_IN_DISPOSITION DISPOSITION_TYPE DISPOSITION_SYNTAX LOOSE_PARAMETER REPEATED_PARAMETER
            LOOKALIKE_PARAMETER BYTE_ORDER_MARK ESCAPED_BACKSLASH BACKSLASH ENCODED_WORD EXTENDED_NAME
            EXTENDED_FILENAME TWO_FILENAMES CONFLICTING_FILENAMES UNUSABLE_EXTENDED_PARAMETER
            PARAMETER_CONTINUATION UNREADABLE_FILENAME NESTED_MULTIPART LOOKALIKE_TYPE_PARAMETER
            AMBIGUOUS_CHARSET CHARSET_WITHOUT_ASCII UNKNOWN_CHARSET
            """));

    private static final PresetRules STANDARD =
            new PresetRules("STANDARD", Set.of("BACKSLASH", "ENCODED_WORD"), Set.of(words("""
            BOUNDARY_CHARACTERS LOOKALIKE_BOUNDARY REQUEST_CHARSET PREAMBLE EPILOGUE TRANSPORT_PADDING
            LOOKALIKE_DELIMITER SHARED_LINE_END FOLDED_HEADER PART_CONTENT_LENGTH TRANSFER_ENCODING
            UNDECODABLE_HEADER CONTROL_IN_DISPOSITION LOOSE_PARAMETER REPEATED_PARAMETER
            LOOKALIKE_PARAMETER BYTE_ORDER_MARK ESCAPED_BACKSLASH EXTENDED_FILENAME TWO_FILENAMES
            CONFLICTING_FILENAMES UNUSABLE_EXTENDED_PARAMETER PARAMETER_CONTINUATION NESTED_MULTIPART
            LOOKALIKE_TYPE_PARAMETER AMBIGUOUS_CHARSET CHARSET_WITHOUT_ASCII UNKNOWN_CHARSET
            """)));
    private static final PresetRules STRICT =
            new PresetRules("STRICT", Set.of("TWO_FILENAMES", "ENCODED_WORD"), Set.of());
    private static final PresetRules COMPATIBLE = new PresetRules("COMPATIBLE", Set.of(words("""
            BOUNDARY_CHARACTERS LONG_BOUNDARY LOOKALIKE_BOUNDARY PREAMBLE EPILOGUE TRANSPORT_PADDING
            LOOKALIKE_DELIMITER SHARED_LINE_END FALSE_DELIMITER TEXT_AFTER_CLOSE_DELIMITER
            CLOSE_DELIMITER_AFTER_PREAMBLE FOLDED_HEADER PART_CONTENT_LENGTH TRANSFER_ENCODING
            CONTROL_IN_DISPOSITION LOOSE_PARAMETER REPEATED_PARAMETER LOOKALIKE_PARAMETER BYTE_ORDER_MARK
            ESCAPED_BACKSLASH BACKSLASH EXTENDED_FILENAME PARAMETER_CONTINUATION NESTED_MULTIPART
            LOOKALIKE_TYPE_PARAMETER
            """)), Set.of(words("""
            COMMA_AFTER_MEDIA_TYPE REQUEST_CHARSET DELIMITER_IN_HEADER BARE_LF BARE_LF_IN_HEADER
            UNDECODABLE_HEADER DISPOSITION_TYPE DISPOSITION_SYNTAX ENCODED_WORD EXTENDED_NAME
            UNREADABLE_FILENAME TWO_FILENAMES CONFLICTING_FILENAMES UNUSABLE_EXTENDED_PARAMETER
            AMBIGUOUS_CHARSET CHARSET_WITHOUT_ASCII UNKNOWN_CHARSET
            """)));

    private static String[] words(String text) {
        return text.strip().split("\\s+");
    }

    /**
     * {@return the rules of a preset}
     *
     * @param name {@code STANDARD}, {@code STRICT} or {@code COMPATIBLE}
     * @throws IllegalArgumentException for any other name
     */
    public static PresetRules of(String name) {
        return switch (name) {
            case "STANDARD" -> STANDARD;
            case "STRICT" -> STRICT;
            case "COMPATIBLE" -> COMPATIBLE;
            default -> throw new IllegalArgumentException("unknown preset: " + name);
        };
    }

    /** {@return these rules with every accepted deviation reported, which reveals the offsets of the silent ones} */
    public PresetRules reportingAll() {
        Set<String> all = new HashSet<>(reported);
        all.addAll(silent);
        return new PresetRules(name + " (reporting all)", Set.of(), all);
    }

    /** {@return whether encodings used by old clients are decoded} */
    boolean decodes() {
        return name.startsWith("COMPATIBLE");
    }

    boolean accepts(String deviation) {
        return silent.contains(deviation) || reported.contains(deviation);
    }
}

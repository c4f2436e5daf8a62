package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.buffer.DelimiterSearch;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * The split proof is worth as much as the hash it compares: every field of the decoder is either in the hash, or cannot influence what
 * comes after the next chunk, for the reason given here. A new field fails this test until somebody has decided.
 */
class StateHashTest {
    private static final Map<String, Set<String>> IN_HASH = Map.of(
            "MultipartDecoder",
            Set.of(
                    "state",
                    "search",
                    "offset",
                    "partIndex",
                    "partOpen",
                    "partOffset",
                    "partSize",
                    "preambleAt",
                    "delimiterAt",
                    "delimiterAfterBareLf",
                    "epilogueAt",
                    "padding",
                    "paddingOctets",
                    "finished",
                    "failure",
                    "section",
                    "rules",
                    "deviations"),
            "HeaderSection",
            Set.of(
                    "octets",
                    "state",
                    "fields",
                    "count",
                    "scanned",
                    "totalBefore",
                    "limit",
                    "endOfSection",
                    "firstFold",
                    "firstBareLf",
                    "offset",
                    "error",
                    "errorAt"),
            "PartRules",
            Set.of("files"),
            "Deviations",
            Set.of("reported", "count", "outside", "inside", "part"),
            "DelimiterSearch",
            Set.of("matched", "first"));

    private static final Map<String, Set<String>> NO_INFLUENCE = Map.of(
            "MultipartDecoder",
            Set.of(
                    // never changes
                    "delimiter",
                    "options",
                    "limits",
                    "acceptBareLf",
                    // of the chunk being read: none is when input is needed
                    "chunk",
                    "position",
                    "limit",
                    "beyondBodyLimit",
                    // of the event handed out last: cleared by the next call
                    "constant",
                    "data",
                    "dataIndex",
                    "dataLength",
                    // follows from partOpen once the event is left
                    "headersReadable",
                    // only counted
                    "steps"),
            "HeaderSection",
            Set.of("preset", "maxFields", "maxSize", "maxTotalSize", "steps", "errorDetail"),
            "PartRules",
            Set.of(
                    // never changes
                    "options",
                    "formData",
                    "section",
                    "deviations",
                    // follow from the octets of the section
                    "disposition",
                    "part",
                    "dispositionField",
                    "typeField",
                    "encodingField",
                    "origins",
                    "hasFilename",
                    "otherFilename",
                    "errorOffset",
                    "errorDetail"),
            "Deviations",
            Set.of("preset"),
            "DelimiterSearch",
            Set.of(
                    // never changes
                    "delimiter",
                    "text",
                    "anchor",
                    "length",
                    "anchorPattern",
                    "lastPattern",
                    "stride",
                    // of the false start just reported
                    "falseFrom",
                    "falseTo",
                    // choose between searches that find the same
                    "searched",
                    "gramsFrom",
                    // only counted
                    "steps"));

    @Test
    void everyFieldIsInTheHashOrCannotInfluenceTheFuture() {
        for (Class<?> type : new Class<?>[] {
            MultipartDecoder.class, HeaderSection.class, PartRules.class, Deviations.class, DelimiterSearch.class
        }) {
            Set<String> declared = Arrays.stream(type.getDeclaredFields())
                    .filter(field -> !Modifier.isStatic(field.getModifiers()))
                    .map(Field::getName)
                    .collect(Collectors.toCollection(TreeSet::new));
            Set<String> decided = new TreeSet<>(IN_HASH.get(type.getSimpleName()));
            decided.addAll(NO_INFLUENCE.get(type.getSimpleName()));
            assertEquals(decided, declared, type.getSimpleName());
        }
    }
}

package dev.sluice.bench.differential;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.POJONode;
import dev.sluice.bench.peer.Tally.Part;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * The comparison of Sluice with readers in other languages. Both readings are changed first, so that these differences are ignored. The
 * generated page lists them:
 *
 * <ul>
 *   <li>File names are compared without directories.
 *   <li>An empty file name counts as absent, and the reader may omit such a part.
 *   <li>If a reader returns fields as text, the text is compared.
 *   <li>PHP's conversion of names is applied to Sluice's names.
 * </ul>
 */
final class Mapping {
    private Mapping() {}

    /**
     * Returns the first difference after the mapping. A form may have an empty file input and then an empty field of the same name. A
     * reader that omits empty file inputs returns one part for the two, and it is unknown which one. Both possibilities are tried.
     */
    static Optional<Difference> between(Reading sluice, Reading other, Contender contender) {
        List<Part> theirs = other.parts().stream()
                .map(part -> shortened(part, contender.fieldsAreText))
                .toList();
        Optional<Difference> difference = between(sluice, theirs, contender, true);
        return difference.isPresent()
                        && between(sluice, theirs, contender, false).isEmpty()
                ? Optional.empty()
                : difference;
    }

    private static Optional<Difference> between(
            Reading sluice, List<Part> theirs, Contender contender, boolean keepsEqual) {
        List<Part> ours = new ArrayList<>();
        int missing = sluice.parts().size() - theirs.size();
        for (Part part : sluice.parts()) {
            Part mapped = shortened(part, contender.fieldsAreText);
            boolean leftEmpty = part.filename() != null && mapped.filename() == null;
            boolean isEqual =
                    ours.size() < theirs.size() && theirs.get(ours.size()).same(mapped);
            if (leftEmpty && contender == Contender.PHP) {
                ours.add(new Part(part.name(), "", part.content()));
            } else if (leftEmpty && missing > 0 && !(keepsEqual && isEqual)) {
                missing--;
            } else {
                ours.add(mapped);
            }
        }
        Reading mapped = new Reading(contender == Contender.PHP ? php(ours) : ours, null);
        return Difference.between(mapped, new Reading(theirs, null), true);
    }

    private static Part shortened(Part part, boolean asText) {
        String filename = part.filename();
        if (filename != null) {
            filename = filename.substring(Math.max(filename.lastIndexOf('/'), filename.lastIndexOf('\\')) + 1);
            filename = filename.isEmpty() ? null : filename;
        }
        byte[] content = filename == null && asText ? text(part.content()) : part.content();
        return new Part(part.name(), filename, content);
    }

    /**
     * Returns a reading in which fields are decoded and encoded again, without a final escape sequence of ISO-2022-JP,
     * which readers may omit.
     */
    static Reading withText(Reading reading) {
        return withFields(reading, content -> withoutFinalEscape(text(content)));
    }

    /** Returns a reading in which fields have no content. */
    static Reading withoutFields(Reading reading) {
        return withFields(reading, content -> new byte[0]);
    }

    /** Returns a reading in which the content of a field is decoded as ISO-8859-1 if it is not valid UTF-8. */
    static Reading withLatin1(Reading reading) {
        return withFields(reading, Mapping::validOrLatin1);
    }

    private static Reading withFields(Reading reading, UnaryOperator<byte[]> change) {
        return new Reading(
                reading.parts().stream()
                        .map(part -> part.filename() == null
                                ? new Part(part.name(), null, change.apply(part.content()))
                                : part)
                        .toList(),
                reading.refusal());
    }

    private static byte[] validOrLatin1(byte[] content) {
        byte[] decoded = new String(content, StandardCharsets.UTF_8).getBytes(StandardCharsets.UTF_8);
        return Arrays.equals(decoded, content)
                ? content
                : new String(content, StandardCharsets.ISO_8859_1).getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] withoutFinalEscape(byte[] text) {
        String latin1 = new String(text, StandardCharsets.ISO_8859_1);
        return latin1.replaceFirst("\u001b\\(B$", "").getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Decodes and encodes the content. Readers differ in the number of replacement characters for malformed bytes, so runs are merged. */
    private static byte[] text(byte[] content) {
        return new String(content, StandardCharsets.UTF_8)
                .replaceAll("\uFFFD+", "\uFFFD")
                .getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Returns the fields in PHP's {@code $_POST} and then the files in {@code $_FILES}, with PHP's names. Only in names
     * of files does PHP skip blanks after a bracket.
     */
    private static List<Part> php(List<Part> parts) {
        ObjectNode fields = JsonNodeFactory.instance.objectNode();
        ObjectNode files = JsonNodeFactory.instance.objectNode();
        for (Part part : parts) {
            if (part.filename() == null) {
                put(fields, path(part.name()), part);
            } else if (isPaired(part.name())) {
                put(files, path(part.name().replaceAll("\\[\\s+", "[")), part);
            }
        }
        List<Part> all = new ArrayList<>();
        leaves(fields, "", all);
        leaves(files, "", all);
        all.removeIf(part -> Objects.equals(part.filename(), ""));
        return all;
    }

    /**
     * Returns PHP's array keys for a name. An empty key means the next free number. The list is empty if PHP ignores
     * the name. If the first bracket is not closed, PHP replaces it. If a later one is not closed, PHP ignores the rest
     * of the name.
     */
    private static List<String> path(String name) {
        String text = name.replaceFirst("^ +", "");
        int open = text.indexOf('[');
        List<String> path = new ArrayList<>();
        path.add((open < 0 ? text : text.substring(0, open)).replaceAll("[ .]", "_"));
        if (path.get(0).isEmpty()) {
            return List.of();
        }
        while (open >= 0 && open < text.length() && text.charAt(open) == '[') {
            int start = open + 1;
            int close = text.indexOf(']', start);
            if (close < 0) {
                if (path.size() == 1) {
                    path.set(0, path.get(0) + "_" + text.substring(start).replaceAll("[ .\\[]", "_"));
                }
                return path;
            }
            boolean blank = " \t\n\u000b\f\r".indexOf(text.charAt(start)) >= 0;
            path.add(blank && close == start + 1 ? "" : text.substring(start, close));
            open = close + 1;
        }
        return path;
    }

    /** Returns whether the brackets of a name are paired. PHP ignores files with other names. */
    private static boolean isPaired(String name) {
        return name.matches("[^\\[\\]]*(\\[[^\\[\\]]*\\])*");
    }

    private static void put(ObjectNode array, List<String> path, Part part) {
        ObjectNode in = array;
        for (int i = 0; i < path.size(); i++) {
            String key = i > 0 && path.get(i).isEmpty() ? next(in) : path.get(i);
            if (i == path.size() - 1) {
                in.putPOJO(key, part);
            } else {
                in = in.get(key) instanceof ObjectNode inner ? inner : in.putObject(key);
            }
        }
    }

    private static String next(ObjectNode array) {
        return Long.toString(array.propertyStream()
                .map(Map.Entry::getKey)
                .filter(key -> key.matches("0|[1-9][0-9]{0,17}"))
                .mapToLong(key -> Long.parseLong(key) + 1)
                .max()
                .orElse(0));
    }

    private static void leaves(ObjectNode array, String path, List<Part> all) {
        array.properties().forEach(entry -> {
            String name = path.isEmpty() ? entry.getKey() : path + '[' + entry.getKey() + ']';
            if (entry.getValue() instanceof POJONode leaf && leaf.getPojo() instanceof Part part) {
                all.add(new Part(name, part.filename(), part.content()));
            } else {
                leaves((ObjectNode) entry.getValue(), name, all);
            }
        });
    }
}

package dev.sluice.bench.differential;

import dev.sluice.Boundary;
import dev.sluice.MultipartEncoder;
import dev.sluice.NameEscaping;
import dev.sluice.bench.peer.Body;
import dev.sluice.bench.peer.Slice;
import dev.sluice.bench.peer.Tally.Part;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The changes that a reader makes to names that Sluice has written: a table of strings, each with the string that the reader returns for
 * it. To find that string, the reader reads a form in which the name and the file name contain the original between two letters.
 */
final class Names {
    private static final List<String> ESCAPES = List.of("%22", "%0D", "%0A");

    /** HTML character references that are also recognized without a semicolon. */
    private static final List<String> REFERENCES = List.of("&amp", "&lt", "&gt", "&quot", "&copy", "&reg");

    private static final String LETTERS = "é日\uFEFF\u00A0";
    private static final String BEYOND = "\uD83D\uDE00";

    /** The string that the reader returns for each string in the name of a field. */
    private final Map<String, String> fields = new TreeMap<>();

    /** The string that the reader returns for each string in a file name. */
    private final Map<String, String> files = new TreeMap<>();

    /** The file name that the reader returns for a file input that was left empty. */
    private @Nullable String emptyFile = "";

    /** Whether the reader removes blanks at the ends of a name, even if it has put them in place of other characters. */
    private boolean trims;

    private final Function<Body, Reading> reader;

    /** The letters outside of ASCII that were measured because they occurred in a name. */
    private final Set<String> probed = new HashSet<>();

    private Names(Function<Body, Reading> reader) {
        this.reader = reader;
    }

    /** @param reader the function that reads forms with the parser {@code contender} */
    static Names of(Contender contender, Function<Body, Reading> reader) {
        Names names = new Names(reader);
        for (char c = ' '; c < 0x7F; c++) {
            if (c != '"') { // a quote is written as an escape
                names.probe(String.valueOf(c));
            }
        }
        ESCAPES.forEach(escape -> names.probe(escape));
        REFERENCES.forEach(reference -> names.probe(reference));
        LETTERS.chars().forEach(c -> names.probe(Character.toString(c)));
        names.probe(BEYOND);
        if (contender == Contender.PHP) {
            names.fields.clear(); // Mapping applies PHP's conversion
        }
        Part empty = read(encoder -> encoder.emptyFileInput("a"), reader);
        if (empty != null && Contender.javaParsers().contains(contender)) { // for other readers, Mapping does this
            names.emptyFile = empty.filename();
        }
        Part blank = read(encoder -> encoder.beginPart("ab,", null, null), reader);
        names.trims = blank != null && "ab".equals(blank.name());
        return names;
    }

    private void probe(String text) {
        String between = "a" + text + "b";
        String name = ESCAPES.contains(text)
                ? between.replace("%22", "\"").replace("%0D", "\r").replace("%0A", "\n")
                : between;
        Part read = read(encoder -> encoder.beginPart(name, name, null), reader);
        if (read != null) {
            learn(fields, text, read.name());
            learn(files, text, read.filename());
        }
    }

    private interface Head {
        ByteBuf write(MultipartEncoder encoder) throws IOException;
    }

    private static @Nullable Part read(Head head, Function<Body, Reading> reader) {
        MultipartEncoder encoder =
                MultipartEncoder.create(Boundary.of("x"), NameEscaping.BROWSER, ByteBufAllocator.DEFAULT);
        try {
            ByteBuf body = Unpooled.wrappedBuffer(head.write(encoder), encoder.finish());
            byte[] bytes = new byte[body.readableBytes()];
            body.readBytes(bytes).release();
            Reading reading =
                    reader.apply(Body.unknown(encoder.contentType(), "x", List.of(new Slice(bytes, 0, bytes.length))));
            return reading.parts().isEmpty() ? null : reading.parts().get(0);
        } catch (IllegalArgumentException e) {
            return null; // Sluice rejects the name
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void learn(Map<String, String> table, String text, @Nullable String read) {
        if (read != null && read.length() >= 2 && read.startsWith("a") && read.endsWith("b")) {
            String middle = read.substring(1, read.length() - 1);
            if (!middle.equals(text)) {
                table.put(text, middle);
            }
        }
    }

    /** Returns the expected reading of a form that Sluice reads as {@code reading}. */
    Reading apply(Reading reading) {
        return new Reading(
                reading.parts().stream()
                        .map(part -> new Part(
                                changed(part.name(), fields),
                                "".equals(part.filename()) ? emptyFile : changed(part.filename(), files),
                                part.content()))
                        .toList(),
                reading.refusal());
    }

    private @Nullable String changed(@Nullable String name, Map<String, String> table) {
        if (name == null) {
            return null;
        }
        StringBuilder text = new StringBuilder();
        for (int i = 0, size; i < name.length(); i += size) {
            String rest = name.substring(i);
            String letter = Character.toString(name.codePointAt(i));
            if (letter.codePointAt(0) >= 0x80 && probed.add(letter)) {
                probe(letter);
            }
            String found = table.keySet().stream()
                    .filter(rest::startsWith)
                    .max(Comparator.comparing(String::length))
                    .orElse(letter);
            size = found.length();
            text.append(table.getOrDefault(found, found));
        }
        return trims ? text.toString().strip() : text.toString();
    }

    /** Returns the strings that the reader returns. A key is {@code name} or {@code file name}, and the string that was written. */
    Map<String, String> table() {
        Map<String, String> all = new TreeMap<>();
        fields.forEach((text, read) -> all.put("name " + text, read));
        files.forEach((text, read) -> all.put("file name " + text, read));
        if (!"".equals(emptyFile)) {
            all.put("an empty file name", String.valueOf(emptyFile));
        }
        return all;
    }
}

package dev.sluice.threats;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A change that removes a defence, from a file in {@code src/test/defences}:
 *
 * <pre>
 * == id
 * the resulting defect
 * test dev.sluice.SomeTest#thatFails
 * file parser/core/src/main/java/dev/sluice/Some.java
 * --- text that the file has once
 * +++ its replacement
 * </pre>
 *
 * <p>Text may continue in the next lines. Tests, files and replacements may occur several times.
 */
final class Sabotage {
    record Replacement(String file, String original, String replacement) {}

    final String id;
    final List<String> tests = new ArrayList<>();
    final List<Replacement> replacements = new ArrayList<>();
    private String story = "";

    private Sabotage(String id) {
        this.id = id;
    }

    String story() {
        return story;
    }

    /** {@return all changes, in the order of the files and their text} */
    static List<Sabotage> all(Path directory) throws IOException {
        List<Path> files;
        try (Stream<Path> entries = Files.list(directory)) {
            files = entries.filter(file -> file.toString().endsWith(".txt"))
                    .sorted()
                    .toList();
        }
        List<Sabotage> all = new ArrayList<>();
        for (Path file : files) {
            for (String text : Files.readString(file).split("(?m)^== ")) {
                if (!text.isBlank() && !text.startsWith("#")) {
                    all.add(parse(text));
                }
            }
        }
        return all;
    }

    private static Sabotage parse(String text) {
        List<String> lines = text.strip().lines().toList();
        Sabotage sabotage = new Sabotage(lines.get(0).strip());
        String file = "";
        String original = null;
        StringBuilder current = new StringBuilder();
        for (String line : lines.subList(1, lines.size())) {
            boolean starts = line.startsWith("test ") || line.startsWith("file ") || line.startsWith("--- ");
            if (original != null && starts && !current.isEmpty()) {
                sabotage.replacements.add(new Replacement(file, original, current.toString()));
                original = null;
                current.setLength(0);
            }
            if (line.startsWith("test ")) {
                sabotage.tests.add(line.substring(5).strip());
            } else if (line.startsWith("file ")) {
                file = line.substring(5).strip();
            } else if (line.startsWith("--- ")) {
                current.append(line.substring(4));
            } else if (line.startsWith("+++")) {
                original = current.toString();
                current.setLength(0);
                current.append(line.length() > 4 ? line.substring(4) : " ");
            } else if (file.isEmpty()) {
                sabotage.story = (sabotage.story + ' ' + line).strip();
            } else {
                current.append('\n').append(line);
            }
        }
        if (original != null) {
            sabotage.replacements.add(new Replacement(file, original, current.toString()));
        }
        return sabotage;
    }

    /** {@return the changed text of each file} */
    Map<String, String> apply(Path root) throws IOException {
        Map<String, String> changed = new LinkedHashMap<>();
        for (Replacement replacement : replacements) {
            String text = changed.get(replacement.file);
            text = text != null ? text : Files.readString(root.resolve(replacement.file));
            int at = text.indexOf(replacement.original);
            if (at < 0 || text.indexOf(replacement.original, at + 1) >= 0) {
                throw new IllegalArgumentException(
                        id + ": " + replacement.file + " does not have once: " + replacement.original);
            }
            changed.put(
                    replacement.file,
                    text.substring(0, at)
                            + replacement.replacement
                            + text.substring(at + replacement.original.length()));
        }
        return changed;
    }

    @Override
    public String toString() {
        return id;
    }
}

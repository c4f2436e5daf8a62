package dev.sluice.testkit;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.testkit.Verdict.ExpectedPart;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The corpus of multipart bodies, mostly from the tests of other projects, each with its expected result, and with
 * Sluice's own decision if that differs.
 *
 * <p>The cases are the files {@code <folder>/<name>.body} and {@code .json} in {@code parser/testkit/corpus}, and in a
 * {@code shared/corpus} next to the project if it exists. Sluice's decisions are in {@code verdicts.json}. The files of
 * the cases are never edited.
 */
public final class Corpus {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** Sluice's reasons for each error category of the corpus. */
    private static final Map<String, Set<String>> REASONS = Map.ofEntries(
            Map.entry("missing-boundary", Set.of("MISSING_BOUNDARY")),
            Map.entry("invalid-boundary", Set.of("INVALID_BOUNDARY")),
            Map.entry("duplicate-boundary", Set.of("DUPLICATE_BOUNDARY")),
            Map.entry("no-boundary-found", Set.of("TRUNCATED")),
            Map.entry("data-before-first-boundary", Set.of("PREAMBLE", "PREAMBLE_TOO_LARGE")),
            Map.entry("malformed-delimiter", Set.of("MALFORMED_DELIMITER")),
            Map.entry("empty-body", Set.of("TRUNCATED")),
            Map.entry("unexpected-end", Set.of("TRUNCATED")),
            Map.entry("truncated-headers", Set.of("MALFORMED_HEADER", "TRUNCATED")),
            Map.entry("malformed-header", Set.of("MALFORMED_HEADER")),
            Map.entry("header-too-large", Set.of("HEADER_SECTION_TOO_LARGE", "HEADERS_TOO_LARGE")),
            Map.entry("too-many-headers", Set.of("TOO_MANY_HEADERS")),
            Map.entry("missing-content-disposition", Set.of("MISSING_CONTENT_DISPOSITION")),
            Map.entry("malformed-content-disposition", Set.of("MALFORMED_CONTENT_DISPOSITION", "DUPLICATE_PARAMETER")),
            Map.entry("missing-name", Set.of("MISSING_NAME")));

    private Corpus() {}

    /**
     * A case of the corpus.
     *
     * @param id {@code folder/name}
     * @param contentType the Content-Type of the request
     * @param body the multipart body; must not be modified
     * @param says the corpus's expectation, in a few words
     * @param source the corpus's expectation as a verdict
     * @param decisions Sluice's decisions that differ from the corpus, by preset
     */
    public record Case(
            String id, String contentType, byte[] body, String says, Verdict source, Map<String, Decision> decisions) {
        /** {@return whether the rules for form-data apply} */
        public boolean isFormData() {
            return contentType.regionMatches(true, 0, "multipart/form-data", 0, 19);
        }

        /**
         * {@return the result that Sluice must have: the expectation of the corpus, unless there is a decision for the
         * preset}
         *
         * @param preset {@code STANDARD}, {@code STRICT} or {@code COMPATIBLE}
         */
        public Verdict expected(String preset) {
            Decision decision = decisions.get(preset);
            return decision == null ? source : decision.verdict;
        }

        @Override
        public String toString() {
            return id;
        }
    }

    /**
     * A decision that differs from the corpus.
     *
     * @param verdict the expected result
     * @param row the row of {@code parser/docs/policy.md}
     * @param why the reason, in one line
     */
    public record Decision(Verdict verdict, String row, String why) {}

    /** {@return all cases, ordered by id} */
    public static List<Case> cases() {
        return Loaded.CASES;
    }

    /**
     * {@return the sizes of the chunks in which a body of {@code size} bytes is read; 0 means one chunk for the whole
     * body}
     */
    public static int[] chunkSizes(int size) {
        return size > Loaded.SUITE.get("largestCut").asInt() ? new int[] {0} : Loaded.CHUNK_SIZES.clone();
    }

    /** Loads the cases and the chunk sizes on first use. */
    private static final class Loaded {
        static final List<Case> CASES = load();
        static final JsonNode SUITE = json(root().resolve("parser/testkit/suite/suite.json"));
        static final int[] CHUNK_SIZES =
                SUITE.get("chunkSizes").valueStream().mapToInt(JsonNode::asInt).toArray();
    }

    private static List<Case> load() {
        Path own = root().resolve("parser/testkit/corpus");
        Path shared = root().resolveSibling("shared").resolve("corpus");
        try {
            Map<String, Map<String, Decision>> decisions = decisions(own.resolve("verdicts.json"));
            Map<String, Case> cases = new TreeMap<>();
            for (Path folder : List.of(own, shared)) {
                for (Path body : bodies(folder)) {
                    String name = body.getFileName().toString();
                    String id = body.getName(body.getNameCount() - 2) + "/" + name.substring(0, name.length() - 5);
                    if (!cases.containsKey(id)) {
                        JsonNode json = json(body.resolveSibling(name.substring(0, name.length() - 5) + ".json"));
                        byte[] bytes = Files.readAllBytes(body);
                        if (!TestForm.sha256(bytes)
                                .equals(json.get("bodySha256").asText())) {
                            throw new IllegalStateException(body + " does not match the digest in its JSON file");
                        }
                        Verdict source = sourceVerdict(json.get("expect"));
                        String says = json.at("/expect/error").asText(source.describe());
                        String type = json.get("contentType").asText();
                        cases.put(id, new Case(id, type, bytes, says, source, decisions.getOrDefault(id, Map.of())));
                    }
                }
            }
            for (String id : decisions.keySet()) {
                if (!cases.containsKey(id)) {
                    throw new IllegalStateException(
                            "verdicts.json has a decision for " + id + ", which does not exist");
                }
            }
            return List.copyOf(cases.values());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static JsonNode json(Path file) {
        try {
            return JSON.readTree(file.toFile());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<Path> bodies(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> files = Files.walk(folder, 2)) {
            return files.filter(file -> file.toString().endsWith(".body"))
                    .sorted()
                    .toList();
        }
    }

    /**
     * {@return the root of the repository: {@code sluice.rootDir}, or the closest parent directory that contains the
     * corpus}
     */
    static Path root() {
        String property = System.getProperty("sluice.rootDir");
        Path at = Path.of(property == null ? "" : property).toAbsolutePath().normalize();
        while (!Files.isDirectory(at.resolve("parser/testkit/corpus"))) {
            Path parent = at.getParent();
            if (parent == null) {
                throw new IllegalStateException(
                        "parser/testkit/corpus not found in any parent directory: set sluice.rootDir");
            }
            at = parent;
        }
        return at;
    }

    private static Verdict sourceVerdict(JsonNode expect) {
        if (!expect.has("error")) {
            return Verdict.accepted(parts(expect.get("parts")));
        }
        Set<String> reasons = REASONS.get(expect.get("error").asText());
        if (reasons == null) {
            throw new IllegalStateException("no reason is mapped to the category " + expect.get("error"));
        }
        return new Verdict(List.of(), reasons);
    }

    private static List<ExpectedPart> parts(JsonNode json) {
        List<ExpectedPart> parts = new ArrayList<>();
        for (JsonNode part : json) {
            parts.add(new ExpectedPart(
                    text(part, "name"),
                    text(part, "filename"),
                    hex(part, "nameHex"),
                    hex(part, "filenameHex"),
                    part.has("contentType"),
                    text(part, "contentType"),
                    part.get("size").asLong(),
                    part.get("sha256").asText(),
                    part.has("headers") ? headers(part.get("headers")) : null));
        }
        return parts;
    }

    private static List<String> headers(JsonNode json) {
        List<String> headers = new ArrayList<>();
        for (JsonNode header : json) {
            headers.add(header.get(0).asText() + ": " + header.get(1).asText());
        }
        return headers;
    }

    private static @Nullable String text(JsonNode json, String field) {
        return json.hasNonNull(field) ? json.get(field).asText() : null;
    }

    private static byte @Nullable [] hex(JsonNode json, String field) {
        return json.has(field) ? HexFormat.of().parseHex(json.get(field).asText()) : null;
    }

    private static Map<String, Map<String, Decision>> decisions(Path file) {
        Map<String, Map<String, Decision>> all = new LinkedHashMap<>();
        for (Map.Entry<String, JsonNode> entry : json(file).properties()) {
            Map<String, Decision> byPreset = new LinkedHashMap<>();
            for (JsonNode json : entry.getValue()) {
                Verdict verdict = json.has("error")
                        ? Verdict.refused(json.get("error").asText())
                        : Verdict.accepted(parts(json.get("parts")));
                Decision decision = new Decision(
                        verdict, json.get("row").asText(), json.get("why").asText());
                for (JsonNode preset : json.get("presets")) {
                    if (byPreset.put(preset.asText(), decision) != null) {
                        throw new IllegalStateException(entry.getKey() + " has two decisions for " + preset);
                    }
                }
            }
            all.put(entry.getKey(), Collections.unmodifiableMap(byPreset));
        }
        return all;
    }
}

package dev.sluice.bench.differential;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.bench.differential.Findings.Signature;
import dev.sluice.bench.peer.Provenance;
import dev.sluice.bench.peer.Tally.Part;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Compares readers in other languages with STRICT. */
class ReadersTest {
    private static final long SEED = 20_261_123;
    private static final int FORMS = Integer.getInteger("sluice.readers.forms", 800);

    @Test
    void disagreements_ofOtherLanguages_areExplained() throws IOException {
        Readers readers = new Readers(InstalledReaders.require(), SEED);
        readers.compare(0, FORMS, done -> {});
        Readers.Report report = readers.report(Provenance.now("", Map.of()));
        assertEquals(FORMS / 8, report.forms().get(Sample.Origin.CLIENT));
        assertEquals(FORMS * 3 / 4, report.forms().get(Sample.Origin.GRAMMAR));
        assertEquals(Contender.foreign().size(), report.peers().size());
        for (Findings.Agreement peer : report.peers()) {
            assertEquals(FORMS, peer.agrees + peer.differs + peer.refuses, peer::toString);
            assertTrue(peer.agrees > FORMS / 2, peer::toString);
        }
        assertTrue(report.disagreements().size() > 15, report.disagreements()::toString);
        assertEquals(
                List.of(),
                Explanation.unexplained(report.disagreements()).stream()
                        .map(each -> each.signature() + ": " + each.body())
                        .toList());
    }

    @Test
    void reports_ofTwoRuns_areAdded() {
        Readers.Report both = report(2, "a long body").and(report(3, "a body"));
        assertEquals(Map.of(Sample.Origin.GRAMMAR, 5L), both.forms());
        assertEquals(5, both.peers().iterator().next().differs);
        assertEquals(1, both.disagreements().size());
        assertEquals(5, both.disagreements().get(0).bodies());
        assertEquals("a body", both.disagreements().get(0).body());
    }

    private static Readers.Report report(long forms, String body) {
        Findings.Agreement counts = new Findings.Agreement(Contender.GO);
        counts.differs = forms;
        Signature signature = new Signature(Contender.GO, Difference.NAME, Feature.UNKNOWN);
        return new Readers.Report(
                Provenance.now("", Map.of()),
                SEED,
                Map.of(Sample.Origin.GRAMMAR, forms),
                Map.of("go", "1"),
                List.of(counts),
                List.of(new Findings.Disagreement(signature, forms, "", body, "", "")));
    }

    /** Tests every eighth case by default, because it takes long to send each case to each reader in all chunk sizes. */
    @Test
    void suite_isReadByEveryParser() throws IOException {
        int every = Integer.getInteger("sluice.matrix.every", 8);
        List<String> rows = Matrix.page(InstalledReaders.require(), every)
                .lines()
                .dropWhile(line -> !line.startsWith("|--"))
                .skip(1)
                .toList();
        for (String row : rows) {
            List<Integer> results = Arrays.stream(row.split(" *[|] *"))
                    .skip(2)
                    .map(Integer::valueOf)
                    .toList();
            int cases = results.stream().mapToInt(Integer::intValue).sum();
            assertTrue(cases > 300 / every && results.get(0) > cases / 6, row);
        }
        int parsers = Contender.javaParsers().size() + Contender.foreign().size();
        assertEquals(Sluice.values().length + parsers, rows.size());
    }

    @Test
    void suite_presets_differOnlyAsIntended_andNeverDependOnTheCut() throws IOException {
        for (Sluice preset : Sluice.values()) {
            Map<Matrix.Result, Integer> results = Matrix.results(Matrix.of(preset), Reading::sameParts);
            assertEquals(0, results.getOrDefault(Matrix.Result.DEPENDS_ON_CUT, 0));
            assertEquals(preset == Sluice.STRICT, results.containsKey(Matrix.Result.STRICTER));
            assertEquals(preset == Sluice.COMPATIBLE, results.containsKey(Matrix.Result.LOOSER));
            // COMPATIBLE decodes some names differently, such as encoded words.
            assertEquals(preset == Sluice.COMPATIBLE, results.containsKey(Matrix.Result.WRONG));
        }
    }

    @Test
    void suite_javaRunner_readsLikeDecoder() throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String runner = System.getProperty("sluice.rootDir") + "/parser/testkit/suite/runners/Reader.java";
        String classes = System.getProperty("java.class.path");
        List<String> command =
                List.of(java, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", classes, runner, "STANDARD");
        try (ReaderProcess process = new ReaderProcess(command)) {
            Map<Matrix.Result, Integer> results = Matrix.results(process::read, Reading::sameParts);
            assertEquals(Set.of(Matrix.Result.AGREES), results.keySet());
        }
    }

    static List<Explanation> defects() {
        return Explanation.defects();
    }

    @ParameterizedTest
    @MethodSource("defects")
    void minimalBody_showsDefect(Explanation defect) {
        Map<Contender, ReaderProcess> readers = InstalledReaders.require();
        Sample minimal = defect.minimal();
        Reading strict = Sluice.STRICT.read(minimal);
        assertTrue(strict.accepts(), strict::describe);
        Diagnosis diagnosis = new Diagnosis(minimal, strict);
        for (Contender reader : defect.contenders()) {
            ReaderProcess process = readers.get(reader);
            Reading other = process.read(minimal.whole("x"));
            assertTrue(other.accepts(), other::describe);
            Difference difference = reader.difference(strict, other)
                    .orElseThrow(() -> new AssertionError(reader.title + " reads it like Sluice"));
            List<Signature> causes = diagnosis.causes(reader, process::read, difference);
            assertTrue(causes.stream().anyMatch(defect::explains), causes::toString);
        }
    }

    @Test
    void cause_fileNameOfDotsAfterSlash_isDots() {
        ReaderProcess busboy = InstalledReaders.require().get(Contender.BUSBOY);
        Sample form = Explanation.minimal(
                "--x\\r\\nContent-Disposition: form-data; name=\"a\"; filename=\"/..\"\\r\\n\\r\\nb\\r\\n--x--\\r\\n");
        Diagnosis diagnosis = new Diagnosis(form, Sluice.STRICT.read(form));
        assertEquals(
                List.of(new Signature(Contender.BUSBOY, Difference.FILENAME_ABSENT, Feature.of("DOTS"))),
                diagnosis.causes(Contender.BUSBOY, busboy::read, Difference.FILENAME_ABSENT));
    }

    @Test
    void mapping_fileNames_areComparedWithoutDirectories() {
        assertSame(Contender.GO, parts(file("C:\\d/f")), parts(file("f")));
        assertSame(Contender.GO, parts(file(""), field("a", "b")), parts(field("a", "b")));
        assertSame(Contender.GO, parts(file("d/"), field("a", "b")), parts(field("f", "x"), field("a", "b")));
        assertEquals(Difference.FILENAME, difference(Contender.GO, parts(file("f")), parts(file("g"))));
        assertEquals(Difference.PARTS_MISSING, difference(Contender.GO, parts(file("f")), parts()));
        assertEquals(Difference.PARTS_MISSING, difference(Contender.GO, parts(field("a", "")), parts()));
        assertEquals(
                Difference.CONTENT, difference(Contender.GO, parts(field("a", "\u00ff")), parts(field("a", "\u00fe"))));
        assertSame(Contender.UNDICI, parts(field("a", "\u00ff")), parts(field("a", "\u00fe")));
        assertEquals(Difference.CONTENT, difference(Contender.UNDICI, parts(field("a", "b")), parts(field("a", "c"))));
    }

    @Test
    void mapping_php_convertsNames() {
        List<Part> sent = parts(
                field(" a.b c", "0"),
                field("d[e][]", "1"),
                field("d[e][]", "2"),
                field("f", "3"),
                field("f", "4"),
                field("g[h.i", "5"),
                field("j[k]l", "6"),
                field("", "7"),
                field("d[7]", "8"),
                field("d[]", "9"),
                field("f[x]", "a"),
                field("k[ l][m.", "b"),
                new Part("n[ o]", "f", new byte[0]),
                file(""));
        assertSame(
                Contender.PHP,
                sent,
                parts(
                        field("a_b_c", "0"),
                        field("d[e][0]", "1"),
                        field("d[e][1]", "2"),
                        field("d[7]", "8"),
                        field("d[8]", "9"),
                        field("f[x]", "a"),
                        field("g_h_i", "5"),
                        field("j[k]", "6"),
                        field("k[ l]", "b"),
                        new Part("n[o]", "f", new byte[0])));
    }

    private static void assertSame(Contender contender, List<Part> ours, List<Part> theirs) {
        assertNull(difference(contender, ours, theirs));
    }

    private static Difference difference(Contender contender, List<Part> ours, List<Part> theirs) {
        return Mapping.between(new Reading(ours, null), new Reading(theirs, null), contender)
                .orElse(null);
    }

    private static List<Part> parts(Part... parts) {
        return Arrays.asList(parts);
    }

    private static Part field(String name, String content) {
        return new Part(name, null, content.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static Part file(String filename) {
        return new Part("f", filename, new byte[] {'x'});
    }
}

package dev.sluice.bench.differential;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.Boundary;
import dev.sluice.bench.differential.Findings.Disagreement;
import dev.sluice.bench.differential.Findings.Signature;
import dev.sluice.bench.peer.Body;
import dev.sluice.bench.peer.Provenance;
import dev.sluice.bench.peer.Tally;
import dev.sluice.testkit.Outcome;
import dev.sluice.testkit.ProofSize;
import dev.sluice.testkit.ReferenceParser;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class DifferentialTest {
    private static final long SEED = 20_261_120;
    private static final int BODIES = 2_000;

    /** A short build skips the corpus, whose unusual bodies take a long time to diagnose. */
    @Tag("sized")
    @Test
    void disagreements_areExplained() {
        int count = ProofSize.of("sluice.differential.bodies", BODIES / 8, BODIES);
        Bodies bodies = new Bodies(SEED);
        bodies.compare(count < BODIES ? BODIES : 0, count, done -> {});
        Bodies.Report report = bodies.report(Provenance.now("", Map.of()));
        long strict = report.sum(each -> each.strict);
        assertEquals(count, report.sum(each -> each.bodies));
        assertTrue(strict > count / 3, () -> "STRICT accepts only " + strict);
        for (Findings.Agreement peer : report.peers()) {
            assertTrue(peer.agrees > strict / 3, peer::toString);
        }
        assertTrue(report.disagreements().size() > 20, report.disagreements()::toString);
        assertEquals(List.of(), Explanation.unexplained(report.disagreements()));
    }

    @Test
    void disagreement_withoutExplanation_isReported() {
        Sample sample = sample("--x\r\nContent-Disposition: form-data; name=a\r\n\r\nb\r\n--x--\r\n");
        Function<Body, Reading> blind = body -> new Reading(List.of(), null);
        List<Signature> causes = diagnose(sample, blind, Difference.PARTS_MISSING);
        assertEquals(List.of(new Signature(Contender.JETTY, Difference.PARTS_MISSING, Feature.UNKNOWN)), causes);
        List<Disagreement> found = List.of(new Disagreement(causes.get(0), 1, "", "", "", ""));
        assertEquals(found, Explanation.unexplained(found));
    }

    @Test
    void diagnosis_findsTheFeaturesThatCauseADisagreement() {
        Sample sample = sample("--x\r\nContent-Disposition: form-data; name=\" a;b \"; filename=\"f\"\r\n"
                + "X-Other: 3\r\n\r\n\r\n--\r\n--x--");
        Function<Body, Reading> trimming = body -> renamed(read(body), String::strip);
        assertEquals(
                List.of(new Signature(Contender.JETTY, Difference.NAME, Feature.of("OUTER_BLANKS"))),
                diagnose(sample, trimming, Difference.NAME));
        Function<Body, Reading> both =
                body -> renamed(read(body), name -> name.strip().replace(';', ','));
        assertEquals(
                Set.of(
                        new Signature(Contender.JETTY, Difference.NAME, Feature.of("OUTER_BLANKS")),
                        new Signature(Contender.JETTY, Difference.NAME, Feature.of("SEMICOLON"))),
                Set.copyOf(diagnose(sample, both, Difference.NAME)));
    }

    @Test
    void request_takenApartAndReassembled_isUnchanged() {
        Samples samples = new Samples(SEED + 1);
        int accepted = 0;
        int changed = 0;
        int refused = 0;
        Set<Feature> lasting = new TreeSet<>(Feature.all());
        for (int i = 0; i < BODIES; i++) {
            Sample sample = samples.get(i);
            Optional<Boundary> boundary = Sluice.STRICT.boundary(sample.contentType());
            if (!Sluice.STRICT.read(sample).accepts() || !boundary.get().isFormData()) {
                continue;
            }
            accepted++;
            Outcome outcome = ReferenceParser.parse(sample.contentType(), sample.bytes(), "STRICT");
            Supplier<Anatomy> anatomy = () -> new Anatomy(sample, boundary.get().value(), outcome);
            assertArrayEquals(
                    sample.bytes(), anatomy.get().toSample(sample.origin()).bytes());
            for (Feature feature : Feature.all()) {
                Anatomy without = anatomy.get();
                feature.removeFrom(without);
                Sample experiment = without.toSample(sample.origin());
                if (!experiment.isSame(sample)) {
                    lasting.remove(feature);
                    changed++;
                    refused += Sluice.STRICT.read(experiment).accepts() ? 0 : 1;
                }
            }
        }
        assertTrue(accepted > BODIES / 3, accepted + " accepted");
        assertTrue(refused < changed / 100, refused + " of " + changed + " refused");
        assertEquals(Set.of(Feature.UNKNOWN), lasting);
    }

    @Tag("sized")
    @Test
    void splitBodies_sluiceIsCorrect_errorsOfOthersAreFound() {
        int largest = ProofSize.of("sluice.differential.largest", 90, 160);
        int least = largest < 160 ? 10 : 50;
        Splits splits = new Splits(largest);
        splits.compare(id -> {});
        Splits.Report report = splits.report(Provenance.now("", Map.of()));
        Map<String, Long> wrong =
                report.readers().stream().collect(Collectors.toMap(row -> row.reader, row -> row.wrong));
        assertTrue(report.bodies() > least, () -> report.bodies() + " bodies");
        assertEquals(0, wrong.get("Sluice, STANDARD"));
        assertEquals(0, wrong.get("Sluice, STRICT"));
        assertTrue(wrong.get(Contender.NETTY42.title) > 0, "the known errors of Netty were not found");
    }

    @Test
    void page_matchesRecordedResults() throws IOException {
        Path project = Path.of(System.getProperty("sluice.rootDir"));
        assertEquals(
                Page.text(project.resolve("bench/results/differential")),
                Files.readString(project.resolve("parser/docs/differential.md")));
    }

    private static Sample sample(String body) {
        return new Sample(
                Sample.Origin.CRAFTED, "multipart/form-data; boundary=x", body.getBytes(StandardCharsets.ISO_8859_1));
    }

    private static List<Signature> diagnose(Sample sample, Function<Body, Reading> reader, Difference difference) {
        return new Diagnosis(sample, Sluice.STRICT.read(sample)).causes(Contender.JETTY, reader, difference);
    }

    private static Reading read(Body body) {
        return Sluice.STRICT.read(Sluice.STRICT.boundary(body.contentType()).orElseThrow(), body);
    }

    private static Reading renamed(Reading reading, UnaryOperator<String> change) {
        return new Reading(
                reading.parts().stream()
                        .map(part -> new Tally.Part(change.apply(part.name()), part.filename(), part.content()))
                        .toList(),
                reading.refusal());
    }
}

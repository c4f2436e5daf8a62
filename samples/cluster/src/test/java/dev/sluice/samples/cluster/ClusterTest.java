package dev.sluice.samples.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sluice.testkit.ProofSize;
import dev.sluice.testkit.Seaweed;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClusterTest {
    @TempDir
    Path directory;

    @Test
    @Tag("sized")
    void formsOutliveTheirNodesOrLeaveNothing() throws Exception {
        boolean there = Seaweed.program().isPresent()
                && Seaweed.program("SLUICE_HAPROXY", "haproxy").isPresent();
        if (!there && !"1".equals(System.getenv("SLUICE_REQUIRE_CLIENTS"))) {
            System.out.println("client not present: weed (SeaweedFS), or haproxy");
            assumeTrue(there);
        }
        int forms = ProofSize.of("sluice.cluster.forms", 40, 200);
        StringWriter said = new StringWriter();
        try (Cluster cluster = new Cluster(directory, 0, 3)) {
            assertEquals(1, cluster.doors().size(), "the proxy");
            int kills = ProofSize.of("sluice.cluster.kills", 3, 10);
            Proof.Result result = new Proof(directory, forms, kills, 1, new PrintWriter(said)).run();
            assertTrue(result.isGood(), () -> result + "\n" + said);
            assertEquals(kills, result.kills());
            assertTrue(result.verdicts().get("answered, whole") > forms / 2, () -> result + "\n" + said);
        }
    }
}

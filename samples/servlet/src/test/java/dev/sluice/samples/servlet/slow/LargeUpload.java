package dev.sluice.samples.servlet.slow;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.samples.report.Digest;
import dev.sluice.samples.upload.clients.ServerResponse;
import dev.sluice.testkit.RawHttp;
import dev.sluice.testkit.TestForm;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;

final class LargeUpload {
    static final int MEBIBYTES = 64;

    private static final byte[] BLOCK = TestForm.noise(1 << 20, 3);

    private final String[] around;
    private final String sha256;

    LargeUpload() {
        byte[] marked = new TestForm().file("f", "large.bin", new byte[] {0}).body();
        around = new String(marked, StandardCharsets.ISO_8859_1).split("\0");
        MessageDigest digest = Digest.sha256();
        for (int i = 0; i < MEBIBYTES; i++) {
            digest.update(BLOCK);
        }
        sha256 = HexFormat.of().formatHex(digest.digest());
    }

    /** Sends the upload, checks the response, and returns the rate in MiB/s, measured until the response is read. */
    double post(int port, String endpoint) throws IOException {
        long size = (long) MEBIBYTES << 20;
        long begin = System.nanoTime();
        try (RawHttp connection = new RawHttp(port)) {
            connection
                    .send(TestForm.head(endpoint, around[0].length() + size + around[1].length()))
                    .send(around[0]);
            for (int i = 0; i < MEBIBYTES; i++) {
                connection.send(BLOCK);
            }
            ServerResponse response = ServerResponse.on(connection.send(around[1]));
            double rate = MEBIBYTES * 1e9 / (System.nanoTime() - begin);
            assertEquals(200, response.status(), response.text());
            assertEquals(sha256, response.at("/parts/0/sha256"));
            assertEquals(size, response.json().at("/parts/0/size").asLong());
            return rate;
        }
    }
}

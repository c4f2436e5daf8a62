package dev.sluice.samples.servlet.slow;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.samples.upload.RawConnection;
import dev.sluice.samples.upload.TestForm;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** An upload of a size that takes a while, by a client as they should be. */
final class LargeUpload {
    static final int MEBIBYTES = 64;

    private static final byte[] BLOCK = TestForm.noise(1 << 20, 3);

    private final byte[] open;
    private final byte[] close;
    private final String sha256;

    LargeUpload() throws NoSuchAlgorithmException {
        byte[] empty = new TestForm().file("f", "large.bin", new byte[0]).body();
        String text = new String(empty, StandardCharsets.ISO_8859_1);
        int content = text.indexOf("\r\n\r\n") + 4;
        open = text.substring(0, content).getBytes(StandardCharsets.ISO_8859_1);
        close = text.substring(content).getBytes(StandardCharsets.ISO_8859_1);
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        for (int i = 0; i < MEBIBYTES; i++) {
            digest.update(BLOCK);
        }
        sha256 = HexFormat.of().formatHex(digest.digest());
    }

    /** Sends it and checks that it has come as it is. {@return its rate in MiB per second, answer included} */
    double post(int port, String endpoint) throws IOException {
        long length = open.length + (long) MEBIBYTES * BLOCK.length + close.length;
        long begin = System.nanoTime();
        try (RawConnection connection = new RawConnection(port)) {
            connection
                    .send("POST " + endpoint + " HTTP/1.1\r\nHost: x\r\nContent-Type: " + TestForm.CONTENT_TYPE
                            + "\r\nContent-Length: " + length + "\r\n\r\n")
                    .send(open);
            for (int i = 0; i < MEBIBYTES; i++) {
                connection.send(BLOCK);
            }
            RawConnection.Answer answer = connection.send(close).answer();
            double rate = MEBIBYTES * 1e9 / (System.nanoTime() - begin);
            JsonNode json = answer.json();
            assertEquals(200, answer.status(), json::toString);
            assertEquals(sha256, json.at("/parts/0/sha256").asText());
            assertEquals((long) MEBIBYTES << 20, json.at("/parts/0/size").asLong());
            return rate;
        }
    }
}

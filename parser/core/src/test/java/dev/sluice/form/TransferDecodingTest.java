package dev.sluice.form;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.MultipartOptions;
import dev.sluice.MultipartReader;
import dev.sluice.Preset;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The sinks that undo transfer encodings give what the blocking reader gives, however the octets are cut. */
class TransferDecodingTest {
    private static String pull(String encoding, String encoded) throws IOException {
        Upload upload = new Upload()
                .part(
                        "Content-Disposition: form-data; name=f\r\nContent-Transfer-Encoding: " + encoding + "\r\n",
                        encoded);
        MultipartOptions options =
                MultipartOptions.builder().preset(Preset.COMPATIBLE).build();
        try (MultipartReader reader = MultipartReader.create(upload.toStream(), Upload.BOUNDARY, options)) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            reader.nextPart().transferTo(out);
            return out.toString(StandardCharsets.ISO_8859_1);
        }
    }

    private static String push(String encoding, String encoded, int chunk) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PartSink target = PartSink.to(out);
        try (PartSink sink = encoding.equals("base64") ? new Base64Sink(target) : new QuotedPrintableSink(target)) {
            byte[] octets = encoded.getBytes(StandardCharsets.ISO_8859_1);
            for (int at = 0; at < octets.length; at += chunk) {
                sink.write(Unpooled.wrappedBuffer(octets, at, Math.min(chunk, octets.length - at)));
            }
            sink.complete();
        }
        return out.toString(StandardCharsets.ISO_8859_1);
    }

    private static void assertSame(String encoding, String encoded) throws IOException {
        String expected = pull(encoding, encoded);
        for (int chunk = 1; chunk <= Math.min(encoded.length() + 1, 90); chunk++) {
            assertEquals(
                    expected, push(encoding, encoded, chunk), encoding + " of " + encoded + " in chunks of " + chunk);
        }
    }

    @Test
    void base64IsUndoneAtEverySplit() throws IOException {
        Random random = new Random(64);
        for (int size = 0; size < 70; size++) {
            byte[] octets = new byte[size];
            random.nextBytes(octets);
            String encoded = Base64.getMimeEncoder(20, "\r\n".getBytes(StandardCharsets.US_ASCII))
                    .encodeToString(octets);
            assertSame("base64", encoded);
            assertEquals(new String(octets, StandardCharsets.ISO_8859_1), push("base64", encoded, 7));
        }
        assertSame("base64", "QU*J\u00FFD\r\n");
        assertSame("base64", "QUI");
    }

    @Test
    void quotedPrintableIsUndoneAtEverySplit() throws IOException {
        for (String encoded : List.of(
                "",
                "plain",
                "a=3Db",
                "=e2=82=AC",
                "soft=\r\nbreak",
                "soft=\nbreak",
                "=",
                "a=4",
                "=zz",
                "==41",
                "=\r",
                "=\rx",
                "=4=41",
                "\u00FF=00")) {
            assertSame("quoted-printable", encoded);
        }
    }

    @Test
    void quotedPrintableSoupIsUndoneAtEverySplit() throws IOException {
        Random random = new Random(13);
        for (int round = 0; round < 200; round++) {
            StringBuilder soup = new StringBuilder();
            for (int i = random.nextInt(20); i >= 0; i--) {
                soup.append("=4A\r\nx".charAt(random.nextInt(6)));
            }
            assertSame("quoted-printable", soup.toString());
        }
    }
}

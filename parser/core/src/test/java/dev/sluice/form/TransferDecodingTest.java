package dev.sluice.form;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.MultipartOptions;
import dev.sluice.MultipartReader;
import dev.sluice.Preset;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Transfer encodings, decoded alike by forms and by the blocking reader, at every split. */
class TransferDecodingTest {
    private static final MultipartOptions OPTIONS =
            MultipartOptions.builder().preset(Preset.COMPATIBLE).build();

    private static Upload upload(String encoding, String encoded) {
        return new Upload()
                .part(
                        "Content-Disposition: form-data; name=f\r\nContent-Transfer-Encoding: " + encoding + "\r\n",
                        encoded);
    }

    private static String pull(String encoding, String encoded) throws IOException {
        try (MultipartReader reader =
                MultipartReader.create(upload(encoding, encoded).toStream(), Upload.BOUNDARY, OPTIONS)) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            reader.nextPart().transferTo(out);
            return out.toString(StandardCharsets.ISO_8859_1);
        }
    }

    private static String push(String encoding, String encoded, int chunk) throws IOException {
        byte[] body = upload(encoding, encoded).toBytes();
        FormOptions options = FormOptions.inMemory(MemoryBudget.of(1 << 20))
                .preset(Preset.COMPATIBLE)
                .build();
        try (PushedForm assembler = PushedForm.create(Upload.BOUNDARY, options)) {
            Upload.feed(assembler, body, 0, body.length, chunk);
            try (MultipartForm form = assembler.finish();
                    InputStream in = form.part("f").inputStream()) {
                return new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
            }
        }
    }

    private static void assertSame(String encoding, String encoded) throws IOException {
        String expected = pull(encoding, encoded);
        for (int chunk = 1; chunk <= Math.min(encoded.length() + 1, 90); chunk++) {
            assertEquals(
                    expected, push(encoding, encoded, chunk), encoding + " of " + encoded + " in chunks of " + chunk);
        }
    }

    @Test
    void base64_everySplit_isDecoded() throws IOException {
        Random random = new Random(64);
        for (int size = 0; size < 70; size++) {
            byte[] bytes = new byte[size];
            random.nextBytes(bytes);
            String encoded = Base64.getMimeEncoder(20, "\r\n".getBytes(StandardCharsets.US_ASCII))
                    .encodeToString(bytes);
            assertSame("base64", encoded);
            assertEquals(new String(bytes, StandardCharsets.ISO_8859_1), push("base64", encoded, 7));
        }
        assertSame("base64", "QU*J\u00FFD\r\n");
        assertSame("base64", "QUI");
        assertSame("base64", "QQ==\r\n!");
    }

    /** Input that cannot be decoded completely is an error in both APIs, at every split. */
    @Test
    void base64_malformed_isRejectedByBothApis() {
        for (String encoded :
                List.of("Q", "QUJDR", "QQ=", "QQ===", "QUI==", "QUJD=", "=", "Q===", "QQ==QQ==", "QQ==Q", "QQ=Q")) {
            MultipartException pulled = assertThrows(MultipartException.class, () -> pull("base64", encoded), encoded);
            assertEquals(Reason.MALFORMED_TRANSFER_ENCODING, pulled.reason(), encoded);
            assertEquals(82, pulled.offset(), encoded);
            for (int chunk = 1; chunk <= encoded.length() + 1; chunk++) {
                int size = chunk;
                MultipartException pushed =
                        assertThrows(MultipartException.class, () -> push("base64", encoded, size), encoded);
                assertEquals(pulled.getMessage(), pushed.getMessage(), encoded);
                assertEquals(pulled.reason(), pushed.reason(), encoded);
            }
        }
    }

    /** The position of a decoded byte in the body is not known, so the offset is the start of the part, in both APIs. */
    @Test
    void decodedField_tooLarge_hasTheOffsetOfItsStart() throws IOException {
        Upload body = upload("base64", "QUJDREVGRw==");
        FormOptions options = FormOptions.inMemory(MemoryBudget.of(1 << 20))
                .preset(Preset.COMPATIBLE)
                .maxFieldBytes(4)
                .build();
        FormOptions eager = options.toBuilder()
                .decider(part -> PartDecision.storeInMemory())
                .build();
        FormOptions small = options.toBuilder().maxInMemoryBytes(700).build();
        Upload large = upload("base64", "QUJD".repeat(100));
        try (MultipartReader reader = MultipartReader.create(body.toStream(), Upload.BOUNDARY, options.multipart());
                MultipartForm form = Forms.of(options).read(body.toStream(), "multipart/form-data; boundary=x")) {
            MultipartReader.Part part = reader.nextPart();
            for (Executable read : List.<Executable>of(
                    part::text,
                    form.part("f")::text,
                    () -> Forms.of(eager).read(body.toStream(), "multipart/form-data; boundary=x"),
                    () -> Forms.of(small).read(large.toStream(), "multipart/form-data; boundary=x"))) {
                assertEquals(82, assertThrows(MultipartException.class, read).offset());
            }
        }
    }

    /** The limit applies to the bytes before the malformed one, even if both are in the same chunk. */
    @Test
    void base64_malformedBehindTheLimit_everySplit_isTooLarge() throws IOException {
        String encoded = "QUJDQUJD=";
        MultipartOptions most3 = OPTIONS.toBuilder().maxFieldBytes(3).build();
        FormOptions options = FormOptions.inMemory(MemoryBudget.of(1 << 20), most3)
                .decider(head -> PartDecision.storeInMemory())
                .build();
        byte[] body = upload("base64", encoded).toBytes();
        for (int chunk = 1; chunk <= body.length; chunk++) {
            try (PushedForm form = PushedForm.create(Upload.BOUNDARY, options)) {
                int size = chunk;
                MultipartException e = assertThrows(
                        MultipartException.class, () -> Upload.feed(form, body, 0, body.length, size), "" + size);
                assertEquals(Reason.FIELD_TOO_LARGE, e.reason(), "in chunks of " + chunk);
            }
        }
        try (MultipartReader reader =
                MultipartReader.create(upload("base64", encoded).toStream(), Upload.BOUNDARY, most3)) {
            MultipartReader.Part part = reader.nextPart();
            assertEquals(
                    Reason.FIELD_TOO_LARGE,
                    assertThrows(MultipartException.class, part::text).reason());
        }
    }

    @Test
    void quotedPrintable_everySplit_isDecodedAlike() throws IOException {
        for (String encoded :
                "|plain|a=3Db|=e2=82=AC|soft=\r\nbreak|soft=\nbreak|=|a=4|=zz|==41|=\r|=\rx|=4=41|\u00FF=00"
                        .split("\\|")) {
            assertSame("quoted-printable", encoded);
        }
    }

    @Test
    void quotedPrintable_randomInput_everySplit_isDecodedAlike() throws IOException {
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

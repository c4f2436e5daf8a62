package dev.sluice.threats;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import dev.sluice.Boundary;
import dev.sluice.FormRelay;
import dev.sluice.MultipartEncoder;
import dev.sluice.MultipartException;
import dev.sluice.MultipartOptions;
import dev.sluice.NameEscaping;
import dev.sluice.PartHead.Header;
import dev.sluice.Preset;
import dev.sluice.testkit.Soup;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Section N of threats.md, writing: names, types and contents never become other headers or parts. */
class WritingTest {
    private static final MultipartOptions STRICT =
            MultipartOptions.builder().preset(Preset.STRICT).build();

    private static final String EVIL_PART =
            "\r\n\r\n\r\n--x\r\nContent-Disposition: form-data; name=\"admin\"\r\n\r\ntrue";

    private static MultipartEncoder encoder(NameEscaping escaping) {
        return MultipartEncoder.create(Boundary.of("x"), escaping, ByteBufAllocator.DEFAULT);
    }

    /** {@return the parts that STRICT reads in a form of one part with these names and the content {@code v}} */
    private static Run read(String name, @Nullable String filename, NameEscaping escaping) throws IOException {
        MultipartEncoder encoder = encoder(escaping);
        ByteBuf body = Unpooled.wrappedBuffer(
                encoder.beginPart(name, filename, null),
                encoder.write(Unpooled.wrappedBuffer(new byte[] {'v'})),
                encoder.finish());
        return read("x", body);
    }

    private static Run read(String boundary, ByteBuf body) throws IOException {
        byte[] bytes = new byte[body.readableBytes()];
        body.readBytes(bytes).release();
        return Run.of(Boundary.of(boundary), new ByteArrayInputStream(bytes), STRICT, 1000);
    }

    /** Checks that REJECT rejects the payload as a name and as a file name, and that REPLACE writes it as {@code written}. */
    private static void assertNothingInjected(String payload, String written) throws IOException {
        assertThrows(IllegalArgumentException.class, () -> read(payload, null, NameEscaping.REJECT));
        assertThrows(IllegalArgumentException.class, () -> read("a", payload, NameEscaping.REJECT));
        Run name = read(payload, null, NameEscaping.REPLACE);
        Run filename = read("a", payload, NameEscaping.REPLACE);
        assertEquals(1, name.parts.size());
        assertEquals(1, filename.parts.size());
        assertTrue(name.parts.get(0).toString().contains(written), name.parts::toString);
        assertTrue(filename.parts.get(0).toString().contains(written), filename.parts::toString);
    }

    @Test
    void cve_2025_7783_randomBoundary_hasAtLeast128SecureBits() {
        BitSet zeros = new BitSet();
        BitSet ones = new BitSet();
        for (int i = 0; i < 200; i++) {
            BitSet bits = BitSet.valueOf(
                    Run.bytes(Boundary.random("multipart/form-data").value()));
            ones.or(bits);
            bits.flip(0, 8 * 64);
            zeros.or(bits);
        }
        ones.and(zeros);
        assertTrue(ones.cardinality() >= 128, "changing bits: " + ones.cardinality());
        noClasses()
                .should()
                .dependOnClassesThat()
                .haveNameMatching("java\\.util\\.(.*Random.*|random\\..*|UUID)")
                .orShould()
                .callMethod(Math.class, "random")
                .check(new ClassFileImporter()
                        .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                        .importPackages("dev.sluice.encode"));
    }

    @Test
    void cve_2026_59921_lineEndInName_doesNotInjectHeader() throws IOException {
        assertNothingInjected("a\"\r\nX-Injected: b", "a___X-Injected: b");
        assertNothingInjected("a\"" + EVIL_PART, "a_______--x__Content-Disposition: form-data_ name_");
        String inBrowserStyle =
                read("a\r\nX-Injected: b", null, NameEscaping.BROWSER).parts.toString();
        assertTrue(inBrowserStyle.contains("a%0D%0AX-Injected: b"), inBrowserStyle);
    }

    @Test
    void cve_2026_49756_quoteInName_doesNotInjectParameter() throws IOException {
        assertNothingInjected("a\"; filename=\"evil.jsp", "a__ filename__evil.jsp");
        assertNothingInjected("a\\\"; filename=\"evil.jsp", "a___ filename__evil.jsp");
        assertNothingInjected("a; filename=evil.jsp", "a_ filename_evil.jsp");
        String name = read("a\"b", null, NameEscaping.REJECT).parts.toString();
        assertTrue(name.contains("a%22b"), name);
    }

    @Test
    void okhttp_9725_lineEndInMediaType_isRejected() {
        for (String type : List.of(
                "text/plain\r\nX-Injected: b",
                "text/plain; charset=utf-8\r\nX-Injected: b",
                "text/plain; a=\"b\r\nX-Injected: b\"",
                "text/plain" + EVIL_PART,
                "text/plain;" + EVIL_PART)) {
            assertThrows(
                    IllegalArgumentException.class,
                    () -> encoder(NameEscaping.REPLACE).beginPart("a", null, type));
        }
    }

    @Test
    void asyncHttpClient_2203_lineEndInHeader_isRejected() {
        MultipartEncoder mixed = MultipartEncoder.create(
                Boundary.random("multipart/mixed"), NameEscaping.REPLACE, ByteBufAllocator.DEFAULT);
        for (Header header : List.of(
                new Header("Content-ID", "<1>\r\nX-Injected: b"),
                new Header("Content-ID", "<1>" + EVIL_PART),
                new Header("Content-ID: a\r\nX-Injected", "b"))) {
            assertThrows(IllegalArgumentException.class, () -> mixed.beginPart(List.of(header)));
        }
    }

    /** {@return the parts that STRICT reads in the relayed form} */
    private static Run relayed(Soup.Body form) throws IOException {
        FormRelay.Rule rule = head -> new FormRelay.Part(head.name(), head.filename(), null, null);
        CompositeByteBuf body = Unpooled.compositeBuffer();
        try (FormRelay relay =
                FormRelay.create(form.contentType(), MultipartOptions.defaults(), NameEscaping.REPLACE, rule)) {
            relay.feed(Unpooled.wrappedBuffer(form.bytes()));
            drain(relay, body);
            relay.finish();
            drain(relay, body);
            return read(Boundary.formData(relay.contentType(), Preset.STRICT).value(), body);
        }
    }

    private static void drain(FormRelay relay, CompositeByteBuf body) throws IOException {
        for (ByteBuf bytes; (bytes = relay.next()) != null; ) {
            body.addComponent(true, bytes);
        }
    }

    /** {@return the kind and content of each part} */
    private static List<String> kinds(Run run) {
        return run.parts.stream()
                .map(part -> (part.filename() == null ? "field " : "file ") + part.body())
                .toList();
    }

    @Test
    void cve_2026_59389_relayedForm_hasSameParts() throws IOException {
        int forms = 0;
        int encoded = 0;
        for (int seed = 0; seed < 20_000; seed++) {
            Soup.Body soup = Soup.body(seed);
            Run first;
            try {
                Boundary boundary = Boundary.formData(soup.contentType());
                first = Run.of(boundary, new ByteArrayInputStream(soup.bytes()), MultipartOptions.defaults(), 1000);
            } catch (MultipartException e) {
                continue;
            }
            if (first.failure == null && !first.parts.isEmpty()) {
                Run second;
                try {
                    second = relayed(soup);
                } catch (MultipartException e) { // only for malformed base64, which the decoder does not decode
                    assertEquals(MultipartException.Reason.MALFORMED_TRANSFER_ENCODING, e.reason(), soup::toString);
                    encoded++;
                    continue;
                }
                if (soup.toString().toLowerCase(Locale.ROOT).contains("content-transfer-encoding: base64")) {
                    encoded++; // the relay decodes it
                    assertEquals(first.parts.size(), second.parts.size(), soup::toString);
                    continue;
                }
                forms++;
                assertEquals(kinds(first), kinds(second), soup::toString);
            }
        }
        assertTrue(forms > 1000 && encoded < forms / 10, "forms: " + forms + ", encoded: " + encoded);
    }
}

package dev.sluice.threats;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import dev.sluice.Boundary;
import dev.sluice.FormRelay;
import dev.sluice.MultipartException;
import dev.sluice.MultipartOptions;
import dev.sluice.NameEscaping;
import dev.sluice.Preset;
import dev.sluice.testkit.Soup;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** Section N of threats.md, writing: names, types and contents never become other headers or parts. */
class WritingTest {
    private static final MultipartOptions STRICT =
            MultipartOptions.builder().preset(Preset.STRICT).build();

    private static Run read(String boundary, ByteBuf body) throws IOException {
        byte[] bytes = new byte[body.readableBytes()];
        body.readBytes(bytes).release();
        return Run.of(Boundary.of(boundary), new ByteArrayInputStream(bytes), STRICT, 1000);
    }

    @Test
    void cve_2025_7783_randomBoundary_usesNoPredictableGenerator() {
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

package dev.sluice.threats;

import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.Boundary;
import dev.sluice.Heads;
import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.MultipartOptions;
import dev.sluice.PartHead;
import dev.sluice.Preset;
import dev.sluice.testkit.LinearWork;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;

/**
 * Section C of threats.md, header parameters: the work is linear in their length. Values that are parsed outside a body are so long that
 * linear work takes milliseconds and quadratic work would take minutes.
 */
@Timeout(value = 180, threadMode = ThreadMode.SEPARATE_THREAD)
class HeaderParametersTest {
    private static final int LONG = 1 << 20;

    /** Input that is expensive for regular expressions and careless scanners. */
    private static final List<String> TOKENS = List.of(
            (";a=~; a=b~; a=\"b\"~\\~\\\"~\"~\" ~\";~=\"~; ~ ;~ ~;~=~a=b c ~;a*0=b~; filename*1=b~%~%22~'~\u00e9"
                            + "~;x=\"\\~;x=\"\\\\~; a~=?~?=~x~x \"x~; a \t = \t b~; filename*0=\"\\\"\"~;"
                            + " ".repeat(99)
                            + "~\"" + " ".repeat(99))
                    .split("~"));

    private static void parse(String value, Preset preset) {
        try {
            Heads.of(value, MultipartOptions.builder().preset(preset).build()).safeFilename();
        } catch (MultipartException e) {
            assertEquals(400, e.httpStatus());
        }
    }

    /** Checks that the work is linear for values of up to {@code size} characters that repeat each token. */
    private static void parseAll(int size) {
        for (String token : TOKENS) {
            for (String start : List.of(
                    "form-data",
                    "form-data; name=a",
                    "form-data; name=\"",
                    "form-data; name=a; filename=\"",
                    "form-data; name=a; filename*=UTF-8''")) {
                LinearWork.require(start + token, size, length -> {
                    String value = start + token.repeat(length / token.length());
                    return () -> {
                        for (Preset preset : Run.PRESETS) {
                            parse(value, preset);
                            parse(value + "\"", preset);
                            parse(value + '\\', preset);
                        }
                    };
                });
            }
        }
    }

    @Test
    void cve_2022_30122_headers_areReadInLinearTimeWithoutRegularExpressions() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAPackage("java.util.regex")
                .orShould()
                .callMethodWhere(target(owner(type(String.class)))
                        .and(target(nameMatching("matches|split|replaceAll|replaceFirst"))))
                .check(Compiled.CLASSES);
        parseAll(1 << 14);
        parse("form-data; name=\"" + "\\\"".repeat(LONG) + '"', Preset.STANDARD);
    }

    @Test
    void cve_2026_34827_escapesInManyParts_areReadInLinearTime() {
        MultipartOptions options = Run.options(limits -> limits.unlimitedHeaderBytes());
        String escaped = "--x\r\nContent-Disposition: form-data; name=a; filename=\"";
        for (String escape : List.of("\\\"", "\\\\", "\\x")) {
            LinearWork.require(escape, 4000, count -> {
                String part = escaped + escape.repeat(count) + "\"\r\n\r\n\r\n";
                return () -> Run.of(part + part + "--x--", options, 8192).assertAccepted();
            });
            String part = escaped + escape.repeat(4000) + "\"\r\n\r\n\r\n";
            Run run =
                    Run.of(new Repeated("", part, 200, "--x--"), options, 8192).assertAccepted();
            assertEquals(
                    escape.endsWith("x") ? 8000 : 4000,
                    run.parts.get(199).filename().length());
        }
        Run.of(
                        new Repeated("", escaped + "\\\"".repeat(4000) + "\"\r\n\r\n\r\n", 1000, "--x--"),
                        MultipartOptions.defaults(),
                        8192)
                .assertRejected(Reason.HEADERS_TOO_LARGE);
    }

    @Test
    void cve_2024_24762_longContentType_isReadInLinearTime() {
        for (String token : TOKENS) {
            for (String start : List.of(
                    "multipart/form-data",
                    "multipart/form-data; boundary=x; a=\"",
                    "multipart/form-data; ",
                    "multipart/form-data; boundary=",
                    "")) {
                for (Preset preset : Run.PRESETS) {
                    String contentType = start + token.repeat((1 << 18) / token.length());
                    try {
                        assertEquals(
                                "x", Boundary.anyMultipart(contentType, preset).value());
                    } catch (MultipartException e) {
                        assertTrue(e.getMessage().length() < 200, e.getMessage());
                    }
                }
            }
        }
    }

    @Test
    void cve_2026_8159_headerOfMaximumSize_isReadInLinearTime() {
        for (String token : TOKENS) {
            for (Preset preset : Run.PRESETS) {
                LinearWork.require(preset + " " + token, 8000, size -> {
                    String header = "--x\r\nContent-Disposition: form-data; name=a; filename=\""
                            + token.repeat(size / token.length()) + "\r\n\r\n\r\n--x--";
                    return () -> Run.of(
                            header, MultipartOptions.builder().preset(preset).build(), 1000);
                });
            }
        }
    }

    @Test
    void cve_2026_42504_encodedWords_areLiteralExceptInCompatible() throws MultipartException {
        String words = "=?utf-8?b?w6k=?= =?utf-8?q?=C3=A9?=";
        for (Preset preset : Run.PRESETS) {
            MultipartOptions options = MultipartOptions.builder().preset(preset).build();
            PartHead disposition = Heads.of("form-data; name=\"" + words + "\"; filename=\"" + words + '"', options);
            String expected = preset == Preset.COMPATIBLE ? "\u00e9\u00e9" : words;
            assertEquals(expected, disposition.name());
            assertEquals(expected, disposition.filename());
        }
        for (Preset preset : Run.PRESETS) {
            parse("form-data; name=\"" + "=?utf-8?q?=41?= ".repeat(LONG / 16) + '"', preset);
            parse("form-data; name=\"=?utf-8?b?" + "a".repeat(LONG) + '"', preset);
        }
        assertThrows(
                MultipartException.class, () -> Boundary.anyMultipart("=?utf-8?q?multipart/form-data?=; boundary=x"));
    }
}

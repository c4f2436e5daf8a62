package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.MultipartException.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Checks that {@code parser/docs/reference.md} lists every setting, reason and deviation. {@code -Dsluice.draw} generates the page again. */
class ReferencePageTest {
    private static final Path PAGE = Path.of(System.getProperty("sluice.rootDir", "../.."), "parser/docs/reference.md");
    private static final List<Preset> PRESETS = List.of(Preset.STANDARD, Preset.STRICT, Preset.COMPATIBLE);

    @Test
    void page_matchesCode() throws IOException {
        String page = page();
        if (System.getProperty("sluice.draw") != null) {
            Files.writeString(PAGE, page);
        }
        assertEquals(page, Files.readString(PAGE).replace("\r\n", "\n"));
    }

    private static String page() {
        return """
                # Settings, errors, deviations

                `ReferencePageTest` generates this page from `Setting`, `MultipartException.Reason` and `Deviation`. Do not edit it.
                For explanations see [limits](limits.md), [errors](errors.md), [presets](presets.md), and [the policy](policy.md).

                ## Settings

                A setting has the same name as a method of the builders and as an init parameter of the filter. In Spring Boot, the property has the
                prefix `sluice.` and the name in kebab case: `maxBodyBytes` is `sluice.max-body-bytes`. Other properties are `sluice.enabled`,
                [`sluice.log-rejected`](operations.md), [`sluice.paths`](limits.md) and [`sluice.s3`](spring-boot-s3.md).
                In init parameters and properties, `unlimited` turns a limit off, and `none` turns the minimum rate off.

                | setting | default of decoder and reader | default of forms and filter | turned off by |
                |---|---:|---:|---|
                %s
                ## Errors

                In a message, the value of the limit replaces `#`. The application chooses the status for `PART_REFUSED`; 400 is the default.

                | reason | status | setting | message |
                |---|---:|---|---|
                %s
                ## Deviations

                The table shows what each preset does with a deviation: "ok" accepts it, "ok, reported" accepts and reports it, and otherwise the
                form is rejected with the reason in the cell.

                | deviation | STANDARD | STRICT | COMPATIBLE |
                |---|---|---|---|
                %s""".formatted(
                        rows(Stream.of(Setting.values()).map(ReferencePageTest::row)),
                        rows(Stream.of(Reason.values()).map(ReferencePageTest::row)),
                        rows(Stream.of(Deviation.values()).map(ReferencePageTest::row)));
    }

    private static String rows(Stream<String> rows) {
        return rows.map(row -> "| " + row + " |\n").collect(Collectors.joining());
    }

    private static String row(Setting setting) {
        boolean body = setting.scope() == Setting.Scope.BODY;
        return String.join(
                " | ",
                "`" + setting.key() + "`",
                body ? shown(setting, setting.decoderDefault()) : "–",
                shown(setting, setting.formDefault()),
                setting.offCall() == null ? "–" : "`" + setting.offCall() + "`");
    }

    private static String shown(Setting setting, long value) {
        if (value == Long.MAX_VALUE) {
            return "unlimited";
        }
        return switch (setting.kind()) {
            case BYTES ->
                switch (setting) {
                    case MEMORY_BUDGET_BYTES -> "a quarter of the heap";
                    case MAX_SPOOL_BYTES -> "16 × `maxBodyBytes`, at least " + size(value);
                    default -> size(value);
                };
            case COUNT -> String.valueOf(value);
            case TIME -> value / 1_000_000_000 + " s";
            case FLAG -> value < 0 ? "by preset" : String.valueOf(value == 1);
            case PRESET -> "standard";
            case CHARSET -> "UTF-8";
            case PATH -> setting == Setting.DIRECTORY ? "a new one" : "none";
            case PARSE -> "lazy";
        };
    }

    private static String size(long bytes) {
        int power = bytes == 0 ? 0 : Long.numberOfTrailingZeros(bytes) / 10;
        return (bytes >> 10 * power) + " " + List.of("B", "KiB", "MiB", "GiB").get(power);
    }

    private static String row(Reason reason) {
        Setting setting = reason.setting();
        String sentence = MultipartException.because(reason).build().getMessage();
        return String.join(
                " | ",
                "`" + reason + "`",
                String.valueOf(reason.httpStatus()),
                setting == null ? "–" : "`" + setting.key() + "`",
                sentence.replaceAll(" \\(.*\\)$", ""));
    }

    private static String row(Deviation deviation) {
        return "`" + deviation + "` | "
                + PRESETS.stream()
                        .map(preset -> !preset.accepts(deviation)
                                ? "`" + deviation.reason() + "`"
                                : preset.reports(deviation) ? "ok, reported" : "ok")
                        .collect(Collectors.joining(" | "));
    }
}

package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Checks that the limits in SECURITY.md and the README are the defaults of the library. */
class DocumentedLimitsTest {
    private static final Path ROOT = Path.of(System.getProperty("sluice.rootDir", "../.."));
    private static final String SECURITY = ".github/SECURITY.md";
    private static final int DECODER = 2;
    private static final int FORMS = 3;
    private static final int FILTER = 4;

    private static String page(String page) throws IOException {
        return Files.readString(ROOT.resolve(page));
    }

    @Test
    void securityPage_statesDefaults(@TempDir Path directory) throws IOException {
        MultipartOptions decoder = MultipartOptions.defaults();
        assertEquals(limitsOf(decoder), limitsInColumn(DECODER));
        assertEquals("unlimited", cell("maxPartBytes", DECODER));
        assertEquals(Long.MAX_VALUE, decoder.maxPartBytes());

        FormOptions forms = FormOptions.inMemory(MemoryBudget.unlimited()).build();
        MultipartOptions ofForms = forms.multipart();
        assertEquals(limitsOf(ofForms), limitsInColumn(FORMS));
        assertEquals("same as maxBodyBytes", cell("maxPartBytes", FORMS));
        assertTrue(ofForms.maxPartBytes() >= ofForms.maxBodyBytes(), "a part may not be the whole body");
        assertEquals(size(forms.spillThreshold()), cell("spillThreshold", FORMS));
        assertEquals(size(forms.maxInMemoryBytes()), cell("maxInMemoryBytes", FORMS));
        assertEquals(count(forms.maxFilesOnDisk()), cell("maxFilesOnDisk", FORMS));
        try (SpoolDirectory spool = SpoolDirectory.open(directory.resolve("spool"))) {
            assertEquals(size(spool.maxSpoolBytes()), cell("maxSpoolBytes", FORMS));
            assertEquals(count(spool.maxSpoolFiles()), cell("maxSpoolFiles", FORMS));
        }
        assertEquals(size(Setting.KEEP_FREE_BYTES.formDefault()), cell("keepFreeBytes", FORMS));
    }

    /** The README contains the most important rows of the table in SECURITY.md, in the same words. */
    @Test
    void readme_statesSameLimits() throws IOException {
        List<String> rows = page("README.md")
                .lines()
                .filter(line -> line.startsWith("| `max"))
                .toList();
        assertTrue(rows.size() >= 5, rows.toString());
        for (String row : rows) {
            String[] cells = row.split("\\|");
            String limit = cells[1].strip().replace("`", "");
            assertEquals(cell(limit, FORMS), cells[2].strip(), row);
            assertEquals(cell(limit, FILTER + 1), cells[3].strip(), row);
        }
    }

    /** {@code FilterParametersTest} checks that the filter has these limits. */
    @Test
    void filter_hasLimitsOfForms() throws IOException {
        assertEquals(limitsInColumn(FORMS), limitsInColumn(FILTER));
        for (String limit : List.of(
                "maxPartBytes",
                "spillThreshold",
                "maxInMemoryBytes",
                "maxSpoolBytes",
                "maxSpoolFiles",
                "keepFreeBytes")) {
            assertEquals(cell(limit, FORMS), cell(limit, FILTER), limit);
        }
        assertEquals("a quarter of the heap", cell("memory of all forms", FILTER));
        assertEquals("240 B/s / 5 s", cell("minimum rate", FILTER));
    }

    private static Map<String, String> limitsOf(MultipartOptions options) {
        assertEquals(options.maxPreambleBytes(), options.maxEpilogueBytes());
        Map<String, String> limits = new LinkedHashMap<>();
        limits.put("maxBodyBytes", size(options.maxBodyBytes()));
        limits.put("maxParts", count(options.maxParts()));
        limits.put("maxFiles", count(options.maxFiles()));
        limits.put("maxFieldBytes", size(options.maxFieldBytes()));
        limits.put("maxHeaderBytesPerPart", size(options.maxHeaderBytesPerPart()));
        limits.put("maxHeadersPerPart", count(options.maxHeadersPerPart()));
        limits.put("maxHeaderBytes", size(options.maxHeaderBytes()));
        limits.put("maxPreambleBytes", size(options.maxPreambleBytes()));
        return limits;
    }

    private static Map<String, String> limitsInColumn(int column) throws IOException {
        Map<String, String> limits = new LinkedHashMap<>();
        for (String limit : limitsOf(MultipartOptions.defaults()).keySet()) {
            limits.put(limit, cell(limit, column));
        }
        return limits;
    }

    private static String count(long limit) {
        return limit == Long.MAX_VALUE ? "unlimited" : String.valueOf(limit);
    }

    private static String size(long bytes) {
        if (bytes == Long.MAX_VALUE) {
            return "unlimited";
        }
        int unit = Long.numberOfTrailingZeros(bytes) / 10;
        return (bytes >> 10 * unit) + List.of(" bytes", " KiB", " MiB", " GiB").get(unit);
    }

    private static String cell(String limit, int column) throws IOException {
        String row = Arrays.stream(page(SECURITY).split("\n"))
                .filter(line -> line.startsWith("| `" + limit + "`") || line.startsWith("| " + limit))
                .findFirst()
                .orElseThrow();
        return row.split("\\|")[column].strip();
    }
}

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

/** Checks that the limits in SECURITY and the README are the defaults of the library. */
class DocumentedLimitsTest {
    private static final Path ROOT = Path.of(System.getProperty("sluice.rootDir", "../.."));
    private static final String SECURITY = ".github/SECURITY.md";
    private static final int DECODER = 2;
    private static final int FORMS = 3;
    private static final int FILTER = 4;

    private static String page(String page) throws IOException {
        return Files.readString(ROOT.resolve(page));
    }

    /** The table of limits agrees with the defaults of the library. */
    @Test
    void securityPage_statesDefaults(@TempDir Path directory) throws IOException {
        MultipartOptions decoder = MultipartOptions.defaults();
        assertEquals(told(decoder), asked(DECODER));
        assertEquals("unlimited", told("maxPartBytes", DECODER));
        assertEquals(Long.MAX_VALUE, decoder.maxPartBytes());

        FormOptions forms = FormOptions.inMemory(MemoryBudget.unlimited()).build();
        MultipartOptions ofForms = forms.multipart();
        assertEquals(told(ofForms), asked(FORMS));
        assertEquals("as the body", told("maxPartBytes", FORMS));
        assertTrue(ofForms.maxPartBytes() >= ofForms.maxBodyBytes(), "a part may be the whole body");
        assertEquals(size(forms.spillThreshold()), told("spillThreshold", FORMS));
        assertEquals(size(forms.maxInMemoryBytes()), told("maxInMemoryBytes", FORMS));
        assertEquals(count(forms.maxFilesOnDisk()), told("maxFilesOnDisk", FORMS));
        try (SpoolDirectory spool = SpoolDirectory.open(directory.resolve("spool"))) {
            String[] told = told("spool directory", FORMS).split(" / ");
            assertEquals(size(spool.maxSpoolBytes()), told[0]);
            assertEquals(spool.maxSpoolFiles(), Long.parseLong(told[1].replace(",", "")));
        }
    }

    /** The README has the most important rows of that table, in the same words. */
    @Test
    void readme_statesSameLimits() throws IOException {
        List<String> rows = page("README.md")
                .lines()
                .filter(line -> line.startsWith("| `max") || line.startsWith("| spool directory"))
                .toList();
        assertTrue(rows.size() >= 5, rows.toString());
        for (String row : rows) {
            String[] cells = row.split("\\|");
            String limit = cells[1].strip().replace("`", "");
            assertEquals(told(limit, FORMS), cells[2].strip(), row);
            assertEquals(told(limit, FILTER + 1), cells[3].strip(), row);
        }
    }

    /** {@code FilterParametersTest} tests the same for the filter. */
    @Test
    void filter_hasLimitsOfForms() throws IOException {
        assertEquals(asked(FORMS), asked(FILTER));
        for (String limit : List.of("maxPartBytes", "spillThreshold", "maxInMemoryBytes")) {
            assertEquals(told(limit, FORMS), told(limit, FILTER), limit);
        }
        assertEquals("same", told("spool directory", FILTER));
        assertEquals("a quarter of the heap", told("memory of all forms", FILTER));
        assertEquals("240 B/s / 5 s", told("minimum rate", FILTER));
    }

    private static Map<String, String> told(MultipartOptions limits) {
        assertEquals(limits.maxPreambleBytes(), limits.maxEpilogueBytes());
        Map<String, String> told = new LinkedHashMap<>();
        told.put("maxBodyBytes", size(limits.maxBodyBytes()));
        told.put("maxParts", count(limits.maxParts()));
        told.put("maxFiles", count(limits.maxFiles()));
        told.put("maxFieldBytes", size(limits.maxFieldBytes()));
        told.put("maxHeaderBytesPerPart", size(limits.maxHeaderBytesPerPart()));
        told.put("maxHeadersPerPart", count(limits.maxHeadersPerPart()));
        told.put("maxHeaderBytes", size(limits.maxHeaderBytes()));
        told.put("maxPreambleBytes", size(limits.maxPreambleBytes()));
        return told;
    }

    /** Returns the limits in a column of the page. */
    private static Map<String, String> asked(int column) throws IOException {
        Map<String, String> asked = new LinkedHashMap<>();
        for (String limit : told(MultipartOptions.defaults()).keySet()) {
            asked.put(limit, told(limit, column));
        }
        return asked;
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

    private static String told(String limit, int column) throws IOException {
        String row = Arrays.stream(page(SECURITY).split("\n"))
                .filter(line -> line.startsWith("| `" + limit + "`") || line.startsWith("| " + limit))
                .findFirst()
                .orElseThrow();
        return row.split("\\|")[column].strip();
    }
}

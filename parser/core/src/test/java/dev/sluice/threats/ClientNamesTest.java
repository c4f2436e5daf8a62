package dev.sluice.threats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.FormOptions;
import dev.sluice.form.FormPart;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PushedForm;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.form.Upload;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Section K of threats.md, names chosen by the client: compared exactly, never part of a path. */
class ClientNamesTest {
    private static final String[] TRAVERSALS =
            ("../../etc/passwd , ..\\..\\windows\\system32\\cmd.exe , /etc/passwd , C:\\boot.ini , C:boot.ini"
                            + " , \\\\server\\share\\f , \\\\?\\C:\\f , .. , . , ... , ../ , a/.. , a/../ , ..  , . . , a:stream"
                            + " , a::$DATA , CON , con.txt , NUL.tar.gz , LPT1 , COM\u00b9 , aux .txt , .htaccess , f. , f. . "
                            + " , f\u202egpj.exe , \uff0e\uff0e/f , a|b<c>d?e*f\"g , ~/.ssh/id_rsa , %2e%2e%2f , ....//f , -rf")
                    .split(" , ");

    @TempDir
    Path root;

    private MultipartForm read(SpoolDirectory spool, String body) throws IOException {
        return PushedForm.read(
                new ByteArrayInputStream(Run.bytes(body)),
                Upload.BOUNDARY,
                FormOptions.builder(spool, MemoryBudget.unlimited())
                        .spillThreshold(0)
                        .build());
    }

    @Test
    void cve_2023_50164_similarNames_areDifferentPartsAndFilesAreNotFields() throws IOException {
        String body = Run.file("upload", "innocent.txt", "file")
                + Run.field("Upload", "capital")
                + Run.field("uploadFileName", "../../shell.jsp")
                + Run.field("upload.filename", "x")
                + Run.field("upload ", "blank")
                + Run.field("\u00c3\u00bcpload", "umlaut") // precomposed
                + Run.field("u\u00cc\u0088pload", "two characters") // decomposed
                + "--x--";
        try (SpoolDirectory spool =
                        SpoolDirectory.builder(root).keepFreeBytes(0).open();
                MultipartForm form = read(spool, body)) {
            assertEquals(1, form.parts("upload").size());
            assertEquals("innocent.txt", form.part("upload").filename());
            assertNull(form.text("upload"), "a file is read as a text field");
            assertEquals(List.of(), form.texts("upload"));
            assertEquals("capital", form.text("Upload"));
            assertEquals("blank", form.text("upload "));
            assertEquals("umlaut", form.text("\u00fcpload"));
            assertEquals("two characters", form.text("u\u0308pload"));
            assertNull(form.text("UPLOAD"));
            assertEquals(1, form.files().size());
            assertEquals(6, form.fields().size());
        }
    }

    @Test
    void cve_2026_24486_clientName_isNeverPartOfPath() throws IOException {
        for (String name : TRAVERSALS) {
            String sent =
                    new String(name.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1).replace("\"", "");
            String body = Run.file(sent, sent, "v") + Run.file(sent, "v", "v") + "--x--";
            try (SpoolDirectory spool = SpoolDirectory.builder(root.resolve("spool"))
                            .keepFreeBytes(0)
                            .open();
                    MultipartForm form = read(spool, body)) {
                List<Path> files = Upload.list(spool.path());
                assertEquals(2, files.size(), name);
                for (Path file : files) {
                    String random = file.getFileName().toString();
                    assertEquals(32, random.length());
                    assertTrue(random.chars().allMatch(c -> Character.digit(c, 16) >= 0), random);
                }
                assertEquals(2, form.parts().size());
            }
            assertEquals(List.of(root.resolve("spool")), Upload.list(root));
        }
    }

    @Test
    void cve_2026_19481_specialPropertyNames_areOrdinaryNames() throws IOException {
        List<String> names = List.of(
                "__proto__",
                "constructor",
                "prototype",
                "a[__proto__][b]",
                "a.constructor.b",
                "toString",
                "class.classLoader");
        StringBuilder body = new StringBuilder();
        for (String name : names) {
            body.append(Run.field(name, "of " + name));
        }
        body.append(Run.file("__proto__", "__proto__", "a file")).append("--x--");
        try (SpoolDirectory spool =
                        SpoolDirectory.builder(root).keepFreeBytes(0).open();
                MultipartForm form = read(spool, body.toString())) {
            assertEquals(
                    names,
                    form.parts().stream()
                            .limit(names.size())
                            .map(FormPart::name)
                            .toList());
            for (String name : names) {
                assertEquals("of " + name, form.text(name));
            }
            for (String none : List.of("a", "b", "hasOwnProperty", "class", "getClass", "")) {
                assertEquals(List.of(), form.parts(none), none);
            }
            assertEquals("__proto__", form.files().get(0).safeFilename());
        }
    }
}

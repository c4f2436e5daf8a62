package dev.sluice.threats;

import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PlannedSpool;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.form.Upload;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Section H of threats.md, permissions of temporary files: other users cannot read them, and files of other users are not written. */
class PermissionsTest {
    private static final Upload UPLOAD = new Upload().file("f", "f", "0123456789".repeat(2));

    @TempDir
    Path root;

    private static MultipartForm read(SpoolDirectory spool) throws IOException {
        return UPLOAD.read(FormOptions.builder(spool, MemoryBudget.unlimited())
                .spillThreshold(0)
                .build());
    }

    @Test
    void cve_2021_21290_files_underUmask000_areAccessibleByOwnerOnly() throws Exception {
        Process child = new ProcessBuilder(
                        "sh",
                        "-c",
                        "umask 000; exec \"$0\" \"$@\"",
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Child.class.getName(),
                        root.resolve("spool").toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String output = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(child.waitFor(1, TimeUnit.MINUTES), output);
        assertEquals(
                "root rwx------\nspool rwx------\nfile rw-------\nlock rw-------\n"
                        + "moved rw-------\ncopied rw-------\nwritten rw-------\n",
                output);
    }

    /** The main class of a separate JVM. */
    static final class Child {
        private Child() {}

        public static void main(String[] arguments) throws IOException {
            Path root = Path.of(arguments[0]);
            try (SpoolDirectory spool =
                            SpoolDirectory.builder(root).keepFreeBytes(0).open();
                    MultipartForm spooled = read(spool);
                    MultipartForm moved = read(spool);
                    MultipartForm inMemory = UPLOAD.read(
                            FormOptions.inMemory(MemoryBudget.unlimited()).build())) {
                spooled.parts().get(0).copyTo(root.resolve("copied"));
                moved.parts().get(0).moveTo(root.resolve("moved"));
                inMemory.parts().get(0).moveTo(root.resolve("written"));
                show("root", root);
                show("spool", spool.path());
                show("file", Upload.list(spool.path()).get(0));
                show("lock", Path.of(spool.path() + ".lock"));
                show("moved", root.resolve("moved"));
                show("copied", root.resolve("copied"));
                show("written", root.resolve("written"));
            }
        }

        private static void show(String what, Path path) throws IOException {
            System.out.print(what + " " + PosixFilePermissions.toString(Files.getPosixFilePermissions(path)) + "\n");
        }
    }

    @Test
    void cve_2023_0482_filesInDefaultDirectoryOrWithDefaultPermissions_areNotCreated() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .areAssignableTo(File.class)
                .orShould()
                .dependOnClassesThat()
                .haveNameMatching("java\\.io\\.(FileOutputStream|FileWriter|RandomAccessFile)")
                .orShould()
                .callMethodWhere(target(owner(type(Files.class)))
                        .and(target(nameMatching(
                                "createTempFile|createTempDirectory|newOutputStream|write.*|copy|createFile"))))
                .check(Compiled.CLASSES);
    }

    @Test
    void cve_2013_0248_linksAreNotFollowedAndDefaultDirectoryIsPrivate() throws IOException {
        Path victim = Files.writeString(root.resolve("victim"), "precious");
        try (SpoolDirectory spool = PlannedSpool.open(root.resolve("spool"), "home", "link", "file", "dangling")) {
            Files.createSymbolicLink(spool.path().resolve("link"), victim);
            Files.writeString(spool.path().resolve("file"), "another user's");
            Files.createSymbolicLink(spool.path().resolve("dangling"), root.resolve("made"));
            for (int name = 0; name < 3; name++) {
                assertThrows(FileAlreadyExistsException.class, () -> read(spool));
            }
            assertEquals("precious", Files.readString(victim));
            assertEquals("another user's", Files.readString(spool.path().resolve("file")));
            assertTrue(Files.notExists(root.resolve("made")));
            assertEquals(0, spool.files());
        }
        assertEquals("precious", Files.readString(victim));
        try (Forms forms = Forms.open()) { // the only method with a default directory
            Path own = forms.options().spool().path();
            assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(own)));
            assertEquals(Path.of(System.getProperty("java.io.tmpdir")), own.getParent());
        }
    }
}

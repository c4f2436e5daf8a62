package dev.sluice;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.equivalentTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noMethods;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the core may and may not use. */
class ArchitectureTest {
    private static final JavaClasses CORE = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .withImportOption(location -> !location.contains("/buffer/") && !location.contains("testkit"))
            .importPackages("dev.sluice");

    @Test
    void theClassesOfTheCoreAreSeen() {
        assertTrue(CORE.contain(MultipartDecoder.class) && CORE.contain(MultipartReader.class));
        assertTrue(CORE.stream().noneMatch(type -> type.getSimpleName().endsWith("Test")), "tests are left out");
    }

    @Test
    void theCoreKnowsTheJdkNettyBuffersAndTheBufferModuleOnly() {
        classes()
                .should()
                .onlyDependOnClassesThat(resideInAPackage("java..")
                        .or(resideInAPackage("io.netty.buffer"))
                        .or(resideInAPackage("io.netty.util.."))
                        .or(resideInAPackage("dev.sluice.."))
                        .or(resideInAPackage("org.jspecify.annotations")))
                .check(CORE);
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAPackage("java.sql..")
                .check(CORE);
    }

    @Test
    void thereAreNoRegularExpressions() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAPackage("java.util.regex")
                .check(CORE);
        noClasses()
                .should()
                .callMethodWhere(com.tngtech.archunit.core.domain.JavaCall.Predicates.target(
                                com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner(
                                        equivalentTo(String.class)))
                        .and(com.tngtech.archunit.core.domain.JavaCall.Predicates.target(
                                nameMatching("matches|split|replaceAll|replaceFirst"))))
                .because("these take regular expressions")
                .check(CORE);
    }

    @Test
    void onlyExceptionsAndEnumsAreSerializable() {
        noClasses()
                .that()
                .areNotAssignableTo(Throwable.class)
                .and(new NotEnum())
                .should()
                .beAssignableTo(Serializable.class)
                .check(CORE);
    }

    private static final class NotEnum extends com.tngtech.archunit.base.DescribedPredicate<JavaClass> {
        NotEnum() {
            super("no enum");
        }

        @Override
        public boolean test(JavaClass type) {
            return !type.isAssignableTo(Enum.class);
        }
    }

    @Test
    void nothingIsSynchronizedSoThatVirtualThreadsUnmount() throws IOException {
        noMethods().should().haveModifier(JavaModifier.SYNCHRONIZED).check(CORE);
        List<String> blocks;
        try (Stream<Path> sources = Files.walk(Path.of("src/main/java"))) {
            blocks = sources.filter(path -> path.toString().endsWith(".java"))
                    .flatMap(ArchitectureTest::lines)
                    .filter(line -> line.contains("synchronized (") || line.contains("synchronized("))
                    .toList();
        }
        assertEquals(List.of(), blocks);
    }

    private static Stream<String> lines(Path source) {
        try {
            return Files.readAllLines(source).stream();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void theDecoderDoesNoInputOrOutputAndStartsNoThreads() {
        noClasses()
                .that()
                .haveNameNotMatching("dev\\.sluice\\.MultipartReader.*")
                .and()
                .haveSimpleNameNotEndingWith("InputStream")
                .and()
                .resideInAPackage("dev.sluice")
                .should()
                .dependOnClassesThat()
                .haveNameMatching("java\\.io\\.(InputStream|OutputStream|File.*|Reader|Writer)|java\\.lang\\.Thread")
                .orShould()
                .dependOnClassesThat()
                .resideInAnyPackage("java.nio.file..", "java.nio.channels..", "java.net..", "java.util.concurrent..")
                .check(CORE);
    }

    @Test
    void packagesNeedEachOtherInOneDirection() {
        noClasses()
                .that()
                .resideInAPackage("dev.sluice")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("dev.sluice.form..")
                .check(CORE);
        noClasses()
                .that()
                .resideInAPackage("dev.sluice.transfer")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("dev.sluice", "dev.sluice.form..")
                .check(CORE);
    }

    @Test
    void noNameHidesWhatAClassIs() {
        classes()
                .should()
                .haveNameNotMatching(".*(Helper|Manager|Utils?|Impl)")
                .andShould()
                .haveNameNotMatching("(.*\\.)?Abstract\\w*")
                .check(CORE);
        noClasses()
                .should()
                .resideInAnyPackage("..util..", "..common..", "..impl..")
                .check(CORE);
    }

    @Test
    void publicClassesAreFinalEnumsOrInterfaces() {
        classes()
                .that()
                .arePublic()
                .and()
                .areNotInterfaces()
                .and(new NotEnum())
                .should()
                .haveModifier(JavaModifier.FINAL)
                .check(CORE);
    }

    @Test
    void nothingIsPrinted() {
        noClasses()
                .should()
                .accessField(System.class, "out")
                .orShould()
                .accessField(System.class, "err")
                .check(CORE);
    }
}

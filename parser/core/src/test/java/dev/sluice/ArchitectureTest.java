package dev.sluice;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noMethods;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import dev.sluice.buffer.Delimiter;
import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The dependencies of the core. */
class ArchitectureTest {
    private static final JavaClasses CORE = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .withImportOption(location -> !location.contains("/buffer/") && !location.contains("testkit"))
            .importPackages("dev.sluice");

    @Test
    void coreClasses_areImported() {
        assertTrue(CORE.contain(MultipartDecoder.class) && CORE.contain(MultipartReader.class));
        assertTrue(
                CORE.stream().noneMatch(type -> type.getSimpleName().endsWith("Test")), "test classes were imported");
    }

    /** The packages that the core may use: no reflection, no SQL, and of java.net only java.net.http. */
    private static final ArchRule KNOWN = classes()
            .should()
            .onlyDependOnClassesThat(resideInAnyPackage(
                            ("java.io java.lang java.lang.module java.net.http java.nio.. java.security java.text java.time java.util"
                                            + " java.util.concurrent.. java.util.function java.util.stream")
                                    .split(" "))
                    .or(resideInAPackage("io.netty.buffer"))
                    .or(resideInAPackage("io.netty.util.."))
                    .or(resideInAPackage("dev.sluice.."))
                    .or(resideInAPackage("org.jspecify.annotations")));

    @Test
    void core_dependsOnlyOnJdkNettyAndBufferModule() {
        KNOWN.check(CORE);
    }

    /** A class that is looked up by name must be listed in META-INF/native-image, as in the buffer module. */
    @Test
    void deployedSources_exceptWrappers_lookUpNothingByName() throws IOException {
        Pattern byName =
                Pattern.compile("Class\\.forName|\\.getResource|ServiceLoader|[nN]ewInstance\\(|\\.loadClass\\(|"
                        + "getDeclared(Constructor|Field|Method)|java\\.lang\\.reflect|Proxy\\.new");
        Path root = Path.of(System.getProperty("sluice.rootDir", "../.."));
        Set<String> asking = new HashSet<>();
        for (String module :
                "buffer core micrometer netty s3 servlet spring-boot-starter spring-webflux tika".split(" ")) {
            Path sources = root.resolve(module.equals("buffer") ? module : "parser/" + module);
            try (Stream<Path> files = Files.walk(sources.resolve("src/main/java"))) {
                files.filter(path -> path.toString().endsWith(".java"))
                        .filter(path -> lines(path)
                                .anyMatch(line -> byName.matcher(line).find()))
                        .forEach(path -> asking.add(path.getFileName().toString()));
            }
        }
        assertEquals(Set.of("Wrappers.java"), asking);
    }

    /** A new public type must be added to the package-info of its package. */
    @Test
    void publicTypes_areListedInPackageInfo() throws IOException {
        for (String directory : new String[] {"dev/sluice", "dev/sluice/form"}) {
            Path folder = Path.of("src/main/java", directory);
            String packageInfo = Files.readString(folder.resolve("package-info.java"));
            try (Stream<Path> files = Files.list(folder)) {
                List<String> missing = files.filter(path -> path.toString().endsWith(".java"))
                        .filter(path ->
                                lines(path).anyMatch(line -> line.matches("public .*(class|interface|enum|record) .*")))
                        .map(path -> path.getFileName().toString().replace(".java", ""))
                        .filter(name -> !Pattern.compile("\\." + name + "\\b")
                                .matcher(packageInfo)
                                .find())
                        .toList();
                assertEquals(List.of(), missing, directory);
            }
        }
    }

    @Test
    void bufferModule_isExportedToCoreOnly() throws URISyntaxException {
        ModuleDescriptor buffer = descriptor(Delimiter.class);
        assertEquals(
                List.of(Set.of("dev.sluice")),
                buffer.exports().stream().map(ModuleDescriptor.Exports::targets).toList());
        assertEquals(Set.of(), buffer.opens());
        assertEquals(
                List.of(Set.of()),
                descriptor(MultipartDecoder.class).requires().stream()
                        .filter(required -> required.name().equals(buffer.name()))
                        .map(ModuleDescriptor.Requires::modifiers)
                        .toList());
    }

    @Test
    void publicMembers_ofExportedPackages_useExportedTypesOnly() throws URISyntaxException {
        Set<String> exported = descriptor(MultipartDecoder.class).exports().stream()
                .filter(export -> !export.isQualified())
                .map(ModuleDescriptor.Exports::source)
                .collect(Collectors.toSet());
        Set<String> met = CORE.stream()
                .filter(type -> exported.contains(type.getPackageName()) && isVisible(type.getModifiers()))
                .flatMap(type -> Stream.concat(
                        Stream.concat(type.getRawInterfaces().stream(), type.getRawSuperclass().stream()),
                        type.getMembers().stream()
                                .filter(member -> isVisible(member.getModifiers()))
                                .flatMap(member -> member.getAllInvolvedRawTypes().stream())))
                .map(JavaClass::getPackageName)
                .collect(Collectors.toSet());
        assertTrue(met.contains("io.netty.buffer"), "the types of members are missing");
        met.removeIf(name -> !name.startsWith("dev.sluice"));
        assertEquals(exported, met);
    }

    private static boolean isVisible(Set<JavaModifier> modifiers) {
        return modifiers.contains(JavaModifier.PUBLIC) || modifiers.contains(JavaModifier.PROTECTED);
    }

    private static ModuleDescriptor descriptor(Class<?> type) throws URISyntaxException {
        URI place = type.getProtectionDomain().getCodeSource().getLocation().toURI();
        return ModuleFinder.of(Path.of(place)).findAll().iterator().next().descriptor();
    }

    /**
     * {@code Charset.forName} queries all providers for every unknown name. This takes a tenth of a millisecond, and a
     * client could cause it for each part.
     */
    @Test
    void charsetForName_isCalledBySettingOnly() {
        noClasses()
                .that()
                .doNotHaveFullyQualifiedName(Setting.class.getName())
                .should()
                .callMethod(Charset.class, "forName", String.class)
                .orShould()
                .callMethod(Charset.class, "isSupported", String.class)
                .check(CORE);
    }

    @Test
    void core_usesNoSynchronizedMethodsOrBlocks() throws IOException {
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
    void decoder_usesNoInputOutputOrThreads() {
        noClasses()
                .that()
                .haveNameNotMatching(
                        "dev\\.sluice\\.(MultipartReader|MultipartBody|BodyChunks|Content|FormRelay)(\\$.*)?")
                .and()
                .haveSimpleNameNotEndingWith("InputStream")
                .and()
                .resideInAnyPackage("dev.sluice", "dev.sluice.header")
                .should()
                .dependOnClassesThat()
                .haveNameMatching("java\\.io\\.(InputStream|OutputStream|File.*|Reader|Writer)|java\\.lang\\.Thread")
                .orShould()
                .dependOnClassesThat()
                .resideInAnyPackage("java.nio.file..", "java.nio.channels..", "java.net..", "java.util.concurrent..")
                .check(CORE);
    }

    @Test
    void packages_haveNoCycles() {
        noClasses()
                .that()
                .resideInAnyPackage("dev.sluice", "dev.sluice.header")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("dev.sluice.form..")
                .check(CORE);
        slices().matching("dev.sluice.form.(*)").should().beFreeOfCycles().check(CORE);
        noClasses()
                .that()
                .resideInAnyPackage("dev.sluice.task", "dev.sluice.legacy")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("dev.sluice", "dev.sluice.header", "dev.sluice.form..")
                .check(CORE);
    }

    /** NettyVersion is exempt, because only constructors of two public types in the same package call it. */
    @Test
    void exportedPackages_havePublicTypesOnly() {
        classes()
                .that()
                .resideInAnyPackage("dev.sluice", "dev.sluice.form")
                .and()
                .areTopLevelClasses()
                .and()
                .haveNameNotMatching(".*\\.(NettyVersion|package-info)")
                .should()
                .bePublic()
                .check(CORE);
    }

    @Test
    void classNames_areDescriptive() {
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
    void publicClasses_areFinal() {
        classes()
                .that()
                .arePublic()
                .and()
                .areNotInterfaces()
                .and()
                .areNotAssignableTo(Enum.class)
                .should()
                .haveModifier(JavaModifier.FINAL)
                .check(CORE);
    }

    @Test
    void core_printsNothing() {
        noClasses()
                .should()
                .accessField(System.class, "out")
                .orShould()
                .accessField(System.class, "err")
                .check(CORE);
    }
}

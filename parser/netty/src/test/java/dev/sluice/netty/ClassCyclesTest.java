package dev.sluice.netty;

import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import org.junit.jupiter.api.Test;

/** The classes have no cyclic dependencies, and the optional HTTP/2 codec is loaded only for streams. */
class ClassCyclesTest {
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("dev.sluice.netty");

    private static final SliceAssignment SOURCE_FILES = new SliceAssignment() {
        @Override
        public SliceIdentifier getIdentifierOf(JavaClass type) {
            String name = type.getName();
            int nested = name.indexOf('$');
            return SliceIdentifier.of(nested < 0 ? name : name.substring(0, nested));
        }

        @Override
        public String getDescription() {
            return "top-level classes with their nested classes";
        }
    };

    @Test
    void classes_haveNoCyclicDependencies() {
        assertTrue(CLASSES.size() > 6, "classes: " + CLASSES.size());
        slices().assignedFrom(SOURCE_FILES).should().beFreeOfCycles().check(CLASSES);
    }

    @Test
    void http2Codec_isUsedByOneClass() {
        ArchRuleDefinition.noClasses()
                .that()
                .doNotHaveSimpleName("ConnectionCloser")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.netty.handler.codec.http2..")
                .check(CLASSES);
    }
}

package dev.sluice.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.FormMetrics;
import dev.sluice.form.FormOptions;
import dev.sluice.s3.S3Sinks;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.web.servlet.DispatcherServlet;

/** Tests applications that lack optional libraries. */
@ExtendWith(OutputCaptureExtension.class)
class ClassPathTest {
    private static final AutoConfigurations STARTER = AutoConfigurations.of(
            SluiceAutoConfiguration.class, SluiceWebFluxAutoConfiguration.class, SluiceS3AutoConfiguration.class);

    @Test
    void beans_exist_onlyWithMvcOrWebFlux() {
        WebApplicationContextRunner servlet = new WebApplicationContextRunner().withConfiguration(STARTER);
        servlet.run(context ->
                assertEquals(1, context.getBeansOfType(FormMetrics.class).size()));
        servlet.withClassLoader(new FilteredClassLoader(MeterRegistry.class)).run(context -> {
            assertEquals(1, context.getBeansOfType(FormOptions.class).size());
            assertEquals(0, context.getBeansOfType(FormMetrics.class).size());
        });
        servlet.withClassLoader(new FilteredClassLoader(DispatcherServlet.class))
                .run(context -> assertFalse(context.containsBean("sluiceFilter")));
        new ReactiveWebApplicationContextRunner().withConfiguration(STARTER).run(context -> {
            assertFalse(context.containsBean("sluiceFilter"));
            assertTrue(context.containsBean("sluiceWebFlux"));
        });
        new ReactiveWebApplicationContextRunner()
                .withConfiguration(STARTER)
                .withPropertyValues("sluice.enabled=false")
                .run(context -> assertFalse(context.containsBean("sluiceWebFlux")));
        new ApplicationContextRunner()
                .withConfiguration(STARTER)
                .run(context -> assertEquals(
                        0, context.getBeansOfType(FormOptions.class).size()));
    }

    @Test
    void bucket_withoutStore_isIgnoredWithAWarning(CapturedOutput output) {
        new WebApplicationContextRunner()
                .withConfiguration(STARTER)
                .withPropertyValues("sluice.s3.bucket=uploads")
                .withClassLoader(new FilteredClassLoader(S3Sinks.class))
                .run(context -> {
                    assertFalse(context.containsBean("sluiceS3Sinks"));
                    assertFalse(context.getBean(SluiceProperties.class).lazy);
                });
        assertTrue(output.getAll().contains("add the dependency dev.sluice:sluice-s3"), output::getAll);
    }

    /**
     * Starts a process without the jars. A class loader that hides their classes is not enough, because other classes
     * could still link to them.
     */
    @ParameterizedTest
    @CsvSource({
        "micrometer-core|actuator|spring-security|spring-test, true",
        "spring-webmvc|spring-webflux|spring-boot-webmvc|spring-boot-webflux, false",
        "servlet-api|tomcat-embed-core|spring-webflux, false",
        "spring-webmvc|servlet-api|tomcat|jetty|undertow|spring-security, true",
        "^s3$|sluice-s3|^s3-|sdk-core|aws-core|^auth-, true",
    })
    void application_withoutJars_starts(String jars, boolean expected) throws Exception {
        Pattern without = Pattern.compile(jars);
        String rest = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !without.matcher(jar(Path.of(entry))).find())
                .collect(Collectors.joining(File.pathSeparator));
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Process process = new ProcessBuilder(
                        java, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", rest, Application.class.getName())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), output);
        // Newer JDKs print warnings about native libraries before the last line.
        String last = output.lines().reduce("", (before, line) -> line);
        assertEquals(expected ? "with Sluice" : "without Sluice", last, output);
    }

    /** {@return the name of the jar or, for the classes of a module in the same build, of its directory} */
    private static String jar(Path entry) {
        return String.valueOf(
                entry.endsWith("target/classes") ? entry.getParent().getParent().getFileName() : entry.getFileName());
    }

    /** An application that prints whether it has the filter or the readers. */
    @EnableAutoConfiguration
    static class Application {
        public static void main(String[] args) {
            try (ConfigurableApplicationContext context = new SpringApplicationBuilder(Application.class)
                    .run("--server.port=0", "--spring.main.banner-mode=off", "--logging.level.root=ERROR")) {
                boolean with = context.containsBean("sluiceFilter") || context.containsBean("sluiceWebFlux");
                System.out.println(with ? "with Sluice" : "without Sluice");
            }
        }
    }
}

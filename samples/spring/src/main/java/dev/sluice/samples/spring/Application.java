package dev.sluice.samples.spring;

import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.servlet.MultipartFilter;
import jakarta.servlet.DispatcherType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumSet;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.util.unit.DataSize;
import org.springframework.web.multipart.MultipartResolver;
import org.springframework.web.multipart.support.StandardServletMultipartResolver;

/** The application, and how the filter comes into it. */
@SpringBootApplication(proxyBeanMethods = false)
public class Application {
    /** Starts it. */
    public static void main(String[] args) {
        SpringApplication.run(Application.class, args);
    }

    @Bean
    SpoolDirectory spoolDirectory(@Value("${uploads.spool}") Path directory) throws IOException {
        return SpoolDirectory.open(directory);
    }

    @Bean
    MemoryBudget memoryBudget() {
        return MemoryBudget.of(64L << 20);
    }

    /** The filter: before every other one, and for every dispatch. */
    @Bean
    FilterRegistrationBean<MultipartFilter> multipartFilter(
            SpoolDirectory spool, MemoryBudget memory, @Value("${uploads.max-body}") DataSize maxBody) {
        FormOptions options = FormOptions.builder(spool, memory)
                .maxBodyBytes(maxBody.toBytes())
                .build();
        FilterRegistrationBean<MultipartFilter> registration =
                new FilterRegistrationBean<>(MultipartFilter.of(options));
        registration.setOrder(Ordered.HIGHEST_PRECEDENCE);
        registration.setDispatcherTypes(EnumSet.allOf(DispatcherType.class));
        return registration;
    }

    /** Takes the parts from the request, whoever parsed them. */
    @Bean
    MultipartResolver multipartResolver() {
        return new StandardServletMultipartResolver();
    }
}

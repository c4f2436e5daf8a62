package dev.sluice.samples.spring;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.servlet.config.annotation.CorsRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/** The application: nothing in it speaks of Sluice. */
@SpringBootApplication(proxyBeanMethods = false)
public class Application implements WebMvcConfigurer {
    /** Starts it. */
    public static void main(String[] args) {
        SpringApplication.run(Application.class, args);
    }

    /** What a page of another origin sends is refused with 403: its browser would send it for anybody. */
    @Override
    public void addCorsMappings(CorsRegistry registry) {
        registry.addMapping("/**").allowedOrigins();
    }
}

package dev.sluice.samples.spring;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** The application: nothing in it speaks of Sluice. */
@SpringBootApplication(proxyBeanMethods = false)
public class Application {
    /** Starts it. */
    public static void main(String[] args) {
        SpringApplication.run(Application.class, args);
    }
}

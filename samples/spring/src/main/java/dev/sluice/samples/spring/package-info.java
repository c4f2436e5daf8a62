/**
 * A Spring Boot application whose uploads go through Sluice because {@code sluice-spring-boot-starter} is among its
 * dependencies. Its controllers use {@code MultipartFile}, {@code @RequestPart} and {@code @RequestParam} as ever; what is
 * refused, and what is not valid, is answered with a {@code ProblemDetail}; {@code /actuator/metrics/sluice.forms} counts.
 */
@NullMarked
package dev.sluice.samples.spring;

import org.jspecify.annotations.NullMarked;

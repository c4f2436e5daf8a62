/**
 * A Spring Boot application whose uploads go through Sluice because {@code sluice-spring-boot-starter} is among its
 * dependencies. Its controllers use {@code MultipartFile}, {@code @RequestPart} and {@code @RequestParam}. The response
 * to a rejected or invalid form is a {@code ProblemDetail}. {@code /actuator/metrics/sluice.forms} counts forms.
 */
@NullMarked
package dev.sluice.samples.spring;

import org.jspecify.annotations.NullMarked;

/**
 * Forms in Spring WebFlux. Define a bean of type {@link dev.sluice.webflux.SluiceWebFlux}. The Spring Boot starter
 * defines this bean itself. Controllers do not change. They can use {@code FilePart}, {@code FormFieldPart}, {@code
 * @RequestPart}, {@code @ModelAttribute}, {@code ServerWebExchange.getMultipartData()}, {@code Flux<Part>} or {@code
 * Flux<PartEvent>}.
 */
@NullMarked
package dev.sluice.webflux;

import org.jspecify.annotations.NullMarked;

/**
 * Forms in Spring WebFlux. {@link dev.sluice.webflux.SluiceWebFlux} as a bean is the whole installation; the Spring Boot
 * starter defines it. Controllers stay as they are: {@code FilePart}, {@code FormFieldPart}, {@code @RequestPart},
 * {@code @ModelAttribute}, {@code ServerWebExchange.getMultipartData()}, {@code Flux<Part>}, {@code Flux<PartEvent>}.
 */
@NullMarked
package dev.sluice.webflux;

import org.jspecify.annotations.NullMarked;

/**
 * Uploads of a Spring Boot application through Sluice: the dependency {@code dev.sluice:sluice-spring-boot-starter} is the
 * whole installation. Controllers stay as they are ({@code MultipartFile}, {@code @RequestPart}, {@code Part}), and so do
 * their tests.
 *
 * <p>{@code spring.servlet.multipart.*} holds as ever, or a {@code MultipartConfigElement} that is a bean, with the defaults
 * of Boot: 1 MB for a file, 10 MB for a request. A location that is relative or missing is made where the process runs.
 * {@code sluice.*} has all {@linkplain dev.sluice.Setting settings} by their names in Spring's spelling ({@code
 * sluice.max-files=20}), and wins where both say something; {@code sluice.paths[/videos/*].max-part-bytes} is for one path,
 * or for all below it; {@code sluice.enabled=false} leaves uploads to the container.
 * A refused form arrives as Spring's own {@code MaxUploadSizeExceededException} or {@code MultipartException}, even if a
 * filter such as Spring Security's asks for it first. If no handler takes it, the answer is a {@code ProblemDetail} that names the
 * limit, or the error page of the application if the client prefers HTML. It has the headers of Spring Security and CORS.
 * A form that Spring Cloud Gateway forwards is not read.
 *
 * <p>With WebFlux it is {@code spring.webflux.multipart.*} that holds, with the defaults of Boot: 256 KB of a part in memory,
 * 10 KB of its header fields, and any number of parts of any size. A limit that Boot has no property for has the default of Sluice:
 * 64 MiB for a form ({@code sluice.max-body-bytes}), 100 files ({@code sluice.max-files}). A refused form arrives as a {@code ResponseStatusException}.
 * See {@link dev.sluice.webflux.SluiceWebFlux}.
 *
 * <p>Beans of one's own take the place of those made here: {@link dev.sluice.form.FormOptions}, {@link
 * dev.sluice.form.SpoolDirectory}, {@link dev.sluice.form.MemoryBudget}, {@link dev.sluice.form.FormMetrics}, a {@code MultipartResolver}, a
 * {@code FilterRegistrationBean} by the name {@code sluiceFilter}. A {@link dev.sluice.spring.FormOptionsCustomizer} changes
 * the options without replacing them.
 */
@NullMarked
package dev.sluice.spring;

import org.jspecify.annotations.NullMarked;

/**
 * A Spring Boot starter that reads uploads with Sluice. Adding the dependency {@code
 * dev.sluice:sluice-spring-boot-starter} is enough: controllers that use {@code MultipartFile}, {@code @RequestPart} or
 * {@code Part} do not change, and neither do their tests.
 *
 * <p>In servlet applications the properties {@code spring.servlet.multipart.*}, or a bean of type {@code
 * MultipartConfigElement}, apply with Boot's defaults: 1 MB for a file, 10 MB for a request. A relative {@code
 * spring.servlet.multipart.location} is resolved against the working directory of the process, and created if it is
 * missing. {@code sluice.*} accepts all {@linkplain dev.sluice.Setting settings} by their names in Spring's spelling
 * ({@code sluice.max-files=20}), and takes precedence. {@code sluice.paths[/videos/*].max-part-bytes} applies to one
 * path, or to all paths below it. With {@code sluice.enabled=false} the container reads uploads.
 *
 * <p>A rejected form raises Spring's own {@code MaxUploadSizeExceededException} or {@code MultipartException}, even if
 * a filter such as Spring Security's reads the form first. If the application does not handle the exception, the
 * response is a {@code ProblemDetail} that names the limit, or the error page of the application if the client prefers
 * HTML. The response has the headers of Spring Security and CORS. A form that Spring Cloud Gateway forwards is not
 * read.
 *
 * <p>In WebFlux applications {@code spring.webflux.multipart.*} applies with Boot's defaults: 256 KB in memory and 10
 * KB of header fields for each part, and any number of parts of any size. A limit for which Boot has no property has
 * the default of Sluice: 64 MiB for a form ({@code sluice.max-body-bytes}), 100 files ({@code sluice.max-files}). A
 * rejected form raises a {@code ResponseStatusException}. See {@link dev.sluice.webflux.SluiceWebFlux}.
 *
 * <p>With {@code sluice-s3} and the property {@code sluice.s3.bucket}, a controller that has a parameter of the type {@link
 * dev.sluice.spring.StoredForm} receives forms whose files are in an object store. Multipart requests of servlet
 * applications are then resolved lazily.
 *
 * <p>Beans of the application replace the beans of the starter: {@link dev.sluice.form.FormOptions}, {@link
 * dev.sluice.form.SpoolDirectory}, {@link dev.sluice.form.MemoryBudget}, {@link dev.sluice.form.FormMetrics}, a {@code
 * MultipartResolver}, a {@code FilterRegistrationBean} named {@code sluiceFilter}. A {@link
 * dev.sluice.spring.FormOptionsCustomizer} changes the options without replacing them.
 */
@NullMarked
package dev.sluice.spring;

import org.jspecify.annotations.NullMarked;

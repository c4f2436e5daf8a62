/**
 * A Spring Boot application whose multipart requests are parsed by {@link dev.sluice.servlet.MultipartFilter}.
 *
 * <p>Spring needs no resolver of its own for it: {@code StandardServletMultipartResolver}, which Boot sets up by
 * default, works on {@code request.getParts()}, and behind the filter those are the filter's. So {@code MultipartFile},
 * {@code @RequestPart} and {@code @RequestParam} are used as ever. Three things are to be done:
 *
 * <ol>
 *   <li>Make one {@code SpoolDirectory} and one {@code MemoryBudget} for the process: beans, closed with the context.
 *   <li>Register the filter before every other one, because a filter in front of it that asks for a parameter has the
 *       container read the body; and for all dispatches, so that an error page does not have the container try to
 *       parse what has been read. {@link dev.sluice.samples.spring.Application#multipartFilter} does both.
 *   <li>Set {@code spring.servlet.multipart.enabled=false} and define the resolver as a bean, as
 *       {@link dev.sluice.samples.spring.Application} does: the container then has no multipart configuration, and
 *       {@code spring.servlet.multipart.max-file-size} and its like cannot be mistaken for the limits in force.
 * </ol>
 *
 * <p>What the filter refuses for its size, Spring throws as {@code MaxUploadSizeExceededException}, because the message
 * says so; all else as {@code MultipartException}. {@link dev.sluice.samples.spring.Refusals} answers both.
 */
@NullMarked
package dev.sluice.samples.spring;

import org.jspecify.annotations.NullMarked;

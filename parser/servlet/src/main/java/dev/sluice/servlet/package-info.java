/**
 * Multipart forms in Servlet containers (Jakarta Servlet 6.0 and 6.1).
 *
 * <p>{@link dev.sluice.servlet.SluiceFilter} implements {@code getParts}, {@code getParameter} and the related methods
 * for any servlet, without {@code @MultipartConfig}. Limits and lifetimes are the same on every container. {@link
 * dev.sluice.servlet.MultipartRequests} gives access to the form itself, and to a reader that returns the parts one by
 * one without storing them. It can also receive a form asynchronously ({@link dev.sluice.servlet.AsyncForm}), without
 * occupying a thread while the client sends the body. Applications without the filter use {@link
 * dev.sluice.servlet.AsyncForms} for such forms.
 */
@NullMarked
package dev.sluice.servlet;

import org.jspecify.annotations.NullMarked;

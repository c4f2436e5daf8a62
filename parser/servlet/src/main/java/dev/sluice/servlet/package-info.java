/**
 * Forms in servlet containers (Jakarta Servlet 6.0 and 6.1).
 *
 * <p>{@link dev.sluice.servlet.SluiceFilter} implements {@code getParts}, {@code getParameter} and the related methods
 * for any servlet, without {@code @MultipartConfig}. Limits and lifetimes are the same on every container. {@link
 * dev.sluice.servlet.MultipartRequests} gives access to the form itself, and to a reader of the body that returns one
 * part after the other without storing it. It can also receive a form that occupies no thread while the client sends it
 * ({@link dev.sluice.servlet.AsyncForm}). Without the filter, {@link dev.sluice.servlet.AsyncForms} receives such
 * forms.
 */
@NullMarked
package dev.sluice.servlet;

import org.jspecify.annotations.NullMarked;

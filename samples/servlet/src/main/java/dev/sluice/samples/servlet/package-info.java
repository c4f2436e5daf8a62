/**
 * A web application on embedded Jetty with both APIs of {@code sluice-servlet}: {@code POST /parts} calls
 * {@code getParts()} behind the filter, {@code POST /async} takes the parts as they arrive and holds no thread.
 *
 * <p>{@link dev.sluice.samples.servlet.ServletServer} puts it together, {@code PartsServlet} and {@code AsyncServlet}
 * are the two endpoints, {@code FormReport} is what both answer.
 */
@NullMarked
package dev.sluice.samples.servlet;

import org.jspecify.annotations.NullMarked;

/**
 * A web application on embedded Jetty with both APIs of {@code sluice-servlet}. {@code POST /parts} calls {@code
 * getParts()} after the filter. {@code POST /async} receives the parts as they arrive, without holding a thread.
 *
 * <p>{@link dev.sluice.samples.servlet.ServletServer} assembles the application, {@code PartsServlet} and {@code
 * AsyncServlet} are the two endpoints, and {@code FormReport} is the response of both.
 */
@NullMarked
package dev.sluice.samples.servlet;

import org.jspecify.annotations.NullMarked;

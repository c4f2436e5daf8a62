/**
 * Forms in servlet containers (Jakarta Servlet 6.0 and 6.1).
 *
 * <p>{@link dev.sluice.servlet.SluiceFilter} makes {@code getParts}, {@code getParameter} and what belongs to them
 * work in front of any servlet, without {@code @MultipartConfig}, with limits and a life cycle that are the same on
 * every container. {@link dev.sluice.servlet.MultipartRequests} gives what lies behind: the form itself, its body part
 * by part without any storing, or a form that holds no thread while the client sends it ({@link
 * dev.sluice.servlet.AsyncForm}; without the filter through {@link dev.sluice.servlet.AsyncForms}).
 */
@NullMarked
package dev.sluice.servlet;

import org.jspecify.annotations.NullMarked;

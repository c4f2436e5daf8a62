/**
 * The answers of the sample servers, independent of their HTTP stack: reports, errors, the page, and the values of
 * options.
 */
@NullMarked
package dev.sluice.samples.report;

import org.jspecify.annotations.NullMarked;

/**
 * Code that the sample servers share, independent of their HTTP stack: reports, errors, the page, and command-line
 * options.
 */
@NullMarked
package dev.sluice.samples.report;

import org.jspecify.annotations.NullMarked;

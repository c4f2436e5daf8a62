/** What the sample servers answer with, whatever they run on: reports, errors, the page, the words of their options. */
@NullMarked
package dev.sluice.samples.report;

import org.jspecify.annotations.NullMarked;

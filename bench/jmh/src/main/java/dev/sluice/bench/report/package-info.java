/** Recorded results: read and written as JSON, compared, printed as tables, drawn as charts. */
@NullMarked
package dev.sluice.bench.report;

import org.jspecify.annotations.NullMarked;

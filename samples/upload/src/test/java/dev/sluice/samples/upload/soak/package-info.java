/** Soak tests: many uploads to one process, with checks that nothing is leaked. */
@NullMarked
package dev.sluice.samples.upload.soak;

import org.jspecify.annotations.NullMarked;

/** The adapters of the guide, compiled and run. */
@NullMarked
package dev.sluice.samples.adapters.readme;

import org.jspecify.annotations.NullMarked;

/** The servlet samples of the guide, compiled and run. */
@NullMarked
package dev.sluice.samples.servlet.readme;

import org.jspecify.annotations.NullMarked;

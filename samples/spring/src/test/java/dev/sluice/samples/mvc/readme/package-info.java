/** The Spring MVC application of the guide, compiled and run. */
@NullMarked
package dev.sluice.samples.mvc.readme;

import org.jspecify.annotations.NullMarked;

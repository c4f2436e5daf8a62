/** The code samples of the guide, compiled and run. */
@NullMarked
package dev.sluice.samples.spring.readme;

import org.jspecify.annotations.NullMarked;

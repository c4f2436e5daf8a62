/** The code samples of the README and the guide, compiled and run. */
@NullMarked
package dev.sluice.samples.upload.readme;

import org.jspecify.annotations.NullMarked;

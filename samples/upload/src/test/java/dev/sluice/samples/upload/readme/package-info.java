/** The code of the README, compiled and run. */
@NullMarked
package dev.sluice.samples.upload.readme;

import org.jspecify.annotations.NullMarked;

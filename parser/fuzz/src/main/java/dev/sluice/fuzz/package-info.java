/**
 * Coverage-guided fuzzing of the decoder and the layers above it: targets with oracles, and the program that runs them.
 */
@NullMarked
package dev.sluice.fuzz;

import org.jspecify.annotations.NullMarked;

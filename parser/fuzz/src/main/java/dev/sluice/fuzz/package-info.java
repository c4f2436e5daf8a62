/** Coverage-guided fuzzing of the decoder and of what stands on it: targets with oracles, and what runs them. */
@NullMarked
package dev.sluice.fuzz;

import org.jspecify.annotations.NullMarked;

/** Gives the same bodies to Sluice and to every other parser, and explains where they read something else. */
@NullMarked
package dev.sluice.bench.differential;

import org.jspecify.annotations.NullMarked;

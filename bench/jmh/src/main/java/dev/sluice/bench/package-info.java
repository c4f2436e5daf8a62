/** The command line of the benchmarks: runs them, compares recorded results, draws them. */
@NullMarked
package dev.sluice.bench;

import org.jspecify.annotations.NullMarked;

/** The sample server under load from another process. */
@NullMarked
package dev.sluice.bench.endtoend;

import org.jspecify.annotations.NullMarked;

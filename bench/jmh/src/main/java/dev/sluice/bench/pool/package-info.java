/** Netty's allocators and kinds of threads by name. */
@NullMarked
package dev.sluice.bench.pool;

import org.jspecify.annotations.NullMarked;

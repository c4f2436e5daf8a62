/** What several threads may use at the same time, and what one thread may do beside another. */
@NullMarked
package dev.sluice.concurrency;

import org.jspecify.annotations.NullMarked;

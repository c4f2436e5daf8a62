/** Execution of tasks and callbacks. Internal: exported to the other modules of the library only. */
@NullMarked
package dev.sluice.task;

import org.jspecify.annotations.NullMarked;

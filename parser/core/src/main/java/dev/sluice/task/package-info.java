/** How tasks and callbacks run. Internal: exported to the other modules of the library only. */
@NullMarked
package dev.sluice.task;

import org.jspecify.annotations.NullMarked;

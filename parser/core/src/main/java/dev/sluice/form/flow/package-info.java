/** The flow control of forms: waiting chunks, time limits and read buffers. Internal: exported to other modules of the library only. */
@NullMarked
package dev.sluice.form.flow;

import org.jspecify.annotations.NullMarked;

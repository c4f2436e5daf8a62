/** The flow control of forms: waiting chunks, time limits and read buffers. Internal; not exported. */
@NullMarked
package dev.sluice.form.flow;

import org.jspecify.annotations.NullMarked;

/** The sinks that {@link dev.sluice.form.PartSink} creates. Internal; not exported. */
@NullMarked
package dev.sluice.form.sink;

import org.jspecify.annotations.NullMarked;

/**
 * Micrometer meters: {@link dev.sluice.micrometer.FormMeterBinder} for forms, {@link dev.sluice.micrometer.StoreMeterBinder} for
 * sinks that write to an object store.
 */
@NullMarked
package dev.sluice.micrometer;

import org.jspecify.annotations.NullMarked;

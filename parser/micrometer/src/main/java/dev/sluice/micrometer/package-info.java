/**
 * {@link dev.sluice.micrometer.FormMeterBinder}: what forms do, as Micrometer's meters; {@link
 * dev.sluice.micrometer.StoreMeterBinder}: what sinks into an object store do.
 */
@NullMarked
package dev.sluice.micrometer;

import org.jspecify.annotations.NullMarked;

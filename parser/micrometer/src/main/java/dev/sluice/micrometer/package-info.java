/** {@link dev.sluice.micrometer.FormMeterBinder}: what forms do, as Micrometer's meters. */
@NullMarked
package dev.sluice.micrometer;

import org.jspecify.annotations.NullMarked;

/**
 * A cluster of three upload servers on one object store behind a proxy, and an experiment that kills servers while
 * forms are sent.
 */
@NullMarked
package dev.sluice.samples.cluster;

import org.jspecify.annotations.NullMarked;

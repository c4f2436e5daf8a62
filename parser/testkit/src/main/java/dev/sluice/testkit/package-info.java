/**
 * What the tests of the decoder and its APIs stand on: a corpus, an independent reference parser, generators,
 * splitters and leak checks. Knows nothing of the decoder: reasons, deviations and presets are named by strings.
 */
@NullMarked
package dev.sluice.testkit;

import org.jspecify.annotations.NullMarked;

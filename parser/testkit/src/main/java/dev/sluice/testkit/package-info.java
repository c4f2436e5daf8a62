/**
 * Test infrastructure for the decoder and the APIs built on it: a corpus, an independent reference parser, generators
 * of bodies, splitters, leak checks, and faulty file systems and networks. It does not depend on the decoder; reasons,
 * deviations and presets are named by strings.
 */
@NullMarked
package dev.sluice.testkit;

import org.jspecify.annotations.NullMarked;

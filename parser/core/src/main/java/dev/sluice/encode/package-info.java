/** The implementation of the encoder: names, header sections, and publishers. Internal to the core. */
@NullMarked
package dev.sluice.encode;

import org.jspecify.annotations.NullMarked;

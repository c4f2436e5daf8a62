/** The code samples of the guide about forwarding, compiled and run. */
@NullMarked
package dev.sluice.samples.gateway.readme;

import org.jspecify.annotations.NullMarked;

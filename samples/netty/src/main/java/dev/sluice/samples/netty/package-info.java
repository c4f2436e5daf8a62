/** Code that the sample servers on Netty share: their protocols, and a certificate for localhost. */
@NullMarked
package dev.sluice.samples.netty;

import org.jspecify.annotations.NullMarked;

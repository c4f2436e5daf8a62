/**
 * {@link dev.sluice.tika.MediaTypes}: decisions by what a part is, not by what the client calls it.
 *
 * <p>Experimental: it may change in any release.
 */
@NullMarked
package dev.sluice.tika;

import org.jspecify.annotations.NullMarked;

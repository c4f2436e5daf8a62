/**
 * {@link dev.sluice.tika.MediaTypes}: decisions based on a part's content, not on what the client declares.
 *
 * <p>Experimental: this package may change in any release.
 */
@NullMarked
package dev.sluice.tika;

import org.jspecify.annotations.NullMarked;

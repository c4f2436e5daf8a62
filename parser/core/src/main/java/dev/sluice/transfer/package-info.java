/** Transfer encodings (RFC 2045 section 6), undone for both APIs that do so. Internal: not exported. */
@NullMarked
package dev.sluice.transfer;

import org.jspecify.annotations.NullMarked;

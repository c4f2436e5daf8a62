/** What both APIs do with bodies: transfer encodings (RFC 2045 section 6) are undone, channels written to. Internal: not exported. */
@NullMarked
package dev.sluice.transfer;

import org.jspecify.annotations.NullMarked;

/** Transfer encodings (RFC 2045 section 6) and channels, for readers and forms. Internal; not exported. */
@NullMarked
package dev.sluice.transfer;

import org.jspecify.annotations.NullMarked;

/** Formats that only old clients send. Internal; not exported. */
@NullMarked
package dev.sluice.legacy;

import org.jspecify.annotations.NullMarked;

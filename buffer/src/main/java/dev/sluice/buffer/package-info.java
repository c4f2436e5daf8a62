/**
 * Byte buffers and reference counts, independent of MIME. Classes in this package never write to a chunk, change its indices, or read
 * outside its reader and writer index.
 */
@NullMarked
package dev.sluice.buffer;

import org.jspecify.annotations.NullMarked;

/**
 * Bytes and reference counts without MIME. Nothing here writes into a chunk that was fed, changes its indices or reads
 * outside its reader and writer index.
 */
@NullMarked
package dev.sluice.buffer;

import org.jspecify.annotations.NullMarked;

/**
 * Formats that only old clients send. {@link dev.sluice.legacy.LegacyFormats} is the entry point. Transfer encodings
 * are decoded by a {@link dev.sluice.legacy.TransferDecoder}, and {@link dev.sluice.legacy.Continuations} are collected
 * piece by piece. Internal; not exported.
 */
@NullMarked
package dev.sluice.legacy;

import org.jspecify.annotations.NullMarked;

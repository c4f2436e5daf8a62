package dev.sluice;

import org.jspecify.annotations.Nullable;

/**
 * Why a header section is refused.
 *
 * @param offset of the offending byte in the body, or its index in what was read
 * @param detail empty where the reason says it all
 * @param seen what was there instead
 */
record Refusal(
        MultipartException.Reason reason,
        long offset,
        String detail,
        @Nullable String seen) {}

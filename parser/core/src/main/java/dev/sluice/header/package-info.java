/**
 * Header sections of parts: {@link dev.sluice.header.HeaderSection} has the grammar, {@link dev.sluice.header.PartRules} the rules of the
 * preset, and {@link dev.sluice.header.PartNames} the result. {@link dev.sluice.header.HeaderFields} are kept after the part. Internal; not
 * exported.
 */
@NullMarked
package dev.sluice.header;

import org.jspecify.annotations.NullMarked;

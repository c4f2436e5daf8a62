/**
 * Header sections of parts. {@link dev.sluice.header.HeaderSection} checks the grammar, {@link dev.sluice.header.PartRules} applies the
 * rules of the preset, and {@link dev.sluice.header.PartNames} contains the name and file name. {@link dev.sluice.header.HeaderFields} may
 * be kept longer than the part. Internal; not exported.
 */
@NullMarked
package dev.sluice.header;

import org.jspecify.annotations.NullMarked;

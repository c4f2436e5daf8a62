/** The assembly of forms: decoding, destinations of parts, limits and reports. Internal; not exported. */
@NullMarked
package dev.sluice.form.assembly;

import org.jspecify.annotations.NullMarked;

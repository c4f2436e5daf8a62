/** The stored contents of forms: in memory, and in the files of a spool. Internal; not exported. */
@NullMarked
package dev.sluice.form.storage;

import org.jspecify.annotations.NullMarked;

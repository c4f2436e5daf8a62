/** Many uploads to one process, and uploads to a disk that is full: what is left of them. */
@NullMarked
package dev.sluice.samples.upload.soak;

import org.jspecify.annotations.NullMarked;

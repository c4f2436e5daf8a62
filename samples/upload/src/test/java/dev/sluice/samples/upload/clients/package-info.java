/** Real clients against the running server: each part has to arrive as it was sent. */
@NullMarked
package dev.sluice.samples.upload.clients;

import org.jspecify.annotations.NullMarked;

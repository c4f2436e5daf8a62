/** Real clients that send forms to the running server. Each part must arrive as it was sent. */
@NullMarked
package dev.sluice.samples.upload.clients;

import org.jspecify.annotations.NullMarked;

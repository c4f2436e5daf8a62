/**
 * The command {@code inspect}, which shows the parts of a multipart body: an example of the decoder without forms or a
 * server.
 */
@NullMarked
package dev.sluice.samples.inspect;

import org.jspecify.annotations.NullMarked;

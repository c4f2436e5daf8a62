/** A command that shows what is in a multipart body: the decoder by itself, without forms or a server. */
@NullMarked
package dev.sluice.samples.inspect;

import org.jspecify.annotations.NullMarked;

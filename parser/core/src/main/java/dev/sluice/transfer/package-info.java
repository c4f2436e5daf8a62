/** Output to channels of the application, for readers and forms. Internal; not exported. */
@NullMarked
package dev.sluice.transfer;

import org.jspecify.annotations.NullMarked;

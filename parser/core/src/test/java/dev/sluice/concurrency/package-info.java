/** Tests of objects that several threads use. */
@NullMarked
package dev.sluice.concurrency;

import org.jspecify.annotations.NullMarked;

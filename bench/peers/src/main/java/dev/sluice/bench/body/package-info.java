/** The multipart bodies that are decoded, each made from a fixed seed together with the truth about its content. */
@NullMarked
package dev.sluice.bench.body;

import org.jspecify.annotations.NullMarked;

/** The code of the README's paragraph on servlets, as it is compiled and tested. */
@NullMarked
package dev.sluice.samples.servlet.readme;

import org.jspecify.annotations.NullMarked;

/** Three upload servers on one object store, behind a proxy, and what becomes of forms when one of them is killed. */
@NullMarked
package dev.sluice.samples.cluster;

import org.jspecify.annotations.NullMarked;

/** One small adapter per parser, all behind {@link dev.sluice.bench.peer.Peer}. */
@NullMarked
package dev.sluice.bench.peer;

import org.jspecify.annotations.NullMarked;

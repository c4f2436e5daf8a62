/** The adapters that touch netty buffers; loaded a second time by {@link dev.sluice.bench.peer.NettyIsland} for another netty. */
@NullMarked
package dev.sluice.bench.peer.bytebuf;

import org.jspecify.annotations.NullMarked;

/**
 * Forms in a Netty pipeline: {@link dev.sluice.netty.MultipartHandlers} makes one handler for each HTTP/1.1 connection and for
 * each HTTP/2 stream. A {@link dev.sluice.netty.FormRoute} selects the requests whose forms are received.
 */
@NullMarked
package dev.sluice.netty;

import org.jspecify.annotations.NullMarked;

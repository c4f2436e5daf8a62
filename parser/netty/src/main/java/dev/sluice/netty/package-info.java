/**
 * Forms in a Netty pipeline: {@link dev.sluice.netty.MultipartHandlers} makes one handler for each HTTP/1.1 connection and for
 * each HTTP/2 stream. A {@link dev.sluice.netty.FormRoute} selects the requests whose forms are received. A {@link
 * dev.sluice.netty.ClamAvScanner} scans files, with forms of every adapter.
 * {@link dev.sluice.netty.MultipartInput} sends a {@link dev.sluice.MultipartBody}.
 */
@NullMarked
package dev.sluice.netty;

import org.jspecify.annotations.NullMarked;

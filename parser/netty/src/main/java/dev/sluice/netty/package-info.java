/**
 * Forms in a Netty pipeline: {@link dev.sluice.netty.MultipartHandlers} makes one handler for each HTTP/1.1 connection and for each
 * HTTP/2 stream. A {@link dev.sluice.netty.FormRoute} selects the requests whose forms are received. A {@link
 * dev.sluice.netty.ClamAvScanner} scans files in the forms of any adapter. {@link dev.sluice.netty.MultipartInput} sends a {@link
 * dev.sluice.MultipartBody}, and {@link dev.sluice.netty.FormWriter} forwards a form to another server while it arrives.
 */
@NullMarked
package dev.sluice.netty;

import org.jspecify.annotations.NullMarked;

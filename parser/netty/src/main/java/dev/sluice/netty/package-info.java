/**
 * Forms in a Netty pipeline: {@link dev.sluice.netty.MultipartHandlers} creates one handler for each HTTP/1.1
 * connection and for each HTTP/2 stream. A {@link dev.sluice.netty.FormRoute} selects the requests whose forms are
 * received. A {@link dev.sluice.netty.ClamAvScanner} scans files for malware, also in forms that were not received by
 * Netty. {@link dev.sluice.netty.MultipartInput} sends a {@link dev.sluice.MultipartBody}, and {@link
 * dev.sluice.netty.FormWriter} forwards a form to another server as it arrives.
 */
@NullMarked
package dev.sluice.netty;

import org.jspecify.annotations.NullMarked;

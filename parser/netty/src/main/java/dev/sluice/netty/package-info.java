/**
 * Forms in a pipeline of Netty: {@link dev.sluice.netty.MultipartHandlers} makes one handler for each connection of HTTP/1.1,
 * and for each stream of HTTP/2. A {@link dev.sluice.netty.FormRoute} says which requests are forms.
 */
@NullMarked
package dev.sluice.netty;

import org.jspecify.annotations.NullMarked;

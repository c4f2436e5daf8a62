/**
 * An upload gateway in front of another server.
 *
 * <p>{@link dev.sluice.samples.gateway.Gateway} is the server. {@code ForwardedForm} receives one form, {@code Rules}
 * decides about its parts, and {@code UpstreamRequest} sends the form to the other server.
 */
@NullMarked
package dev.sluice.samples.gateway;

import org.jspecify.annotations.NullMarked;

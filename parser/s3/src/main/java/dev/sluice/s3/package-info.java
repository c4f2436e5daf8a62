/**
 * Parts of forms into an object store, while they come: {@link dev.sluice.s3.S3Sinks} is made once, {@link
 * dev.sluice.s3.S3Form} for each form. {@link dev.sluice.s3.ObjectStore} is what they ask of a store, {@link
 * dev.sluice.s3.S3ObjectStore} the one that speaks the protocol of S3.
 *
 * <p>Experimental: it may change in any release.
 */
@NullMarked
package dev.sluice.s3;

import org.jspecify.annotations.NullMarked;

/**
 * Sinks that send the files of forms to an object store while they arrive. Create one {@link dev.sluice.s3.S3Sinks} for the process, and
 * one {@link dev.sluice.s3.S3Form} for each form. A form exists in the store completely, or not at all.
 *
 * <p>{@link dev.sluice.s3.S3ObjectStore} speaks the S3 protocol. {@link dev.sluice.s3.ObjectStore} can be implemented for other stores.
 *
 * <p>Experimental: it may change in any release.
 */
@NullMarked
package dev.sluice.s3;

import org.jspecify.annotations.NullMarked;

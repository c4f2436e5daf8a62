/** The code samples of the guide for object stores in Spring Boot, a servlet and Netty, compiled and run. */
@NullMarked
package dev.sluice.samples.s3.readme;

import org.jspecify.annotations.NullMarked;

/** Sinks that send the files of forms to an object store with the S3 protocol. */
@SuppressWarnings("module") // S3 ends in a digit
module dev.sluice.s3 {
    requires transitive dev.sluice;
    requires transitive software.amazon.awssdk.services.s3;
    requires transitive software.amazon.awssdk.auth;
    requires software.amazon.awssdk.awscore;
    requires software.amazon.awssdk.core;
    requires software.amazon.awssdk.http;
    requires software.amazon.awssdk.protocols.jsoncore;
    requires software.amazon.awssdk.regions;
    requires software.amazon.awssdk.utils;
    requires io.netty.buffer;
    requires io.netty.common;
    requires org.reactivestreams;
    requires static transitive org.jspecify;

    exports dev.sluice.s3;
}

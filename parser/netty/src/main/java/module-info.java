/** Receives forms in a Netty pipeline, over HTTP/1.1 and HTTP/2. */
module dev.sluice.netty {
    requires transitive dev.sluice;
    requires transitive io.netty.transport;
    requires transitive io.netty.codec.http;
    requires static io.netty.codec.http2;
    requires io.netty.buffer;
    requires io.netty.codec;
    requires io.netty.common;
    requires io.netty.handler;
    requires static transitive org.jspecify;

    exports dev.sluice.netty;
}

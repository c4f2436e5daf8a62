/** An incremental {@code multipart/form-data} decoder on Netty's reference-counted buffers, and a blocking reader on top of it. */
module dev.sluice {
    requires dev.sluice.buffer;
    requires transitive io.netty.buffer;
    requires io.netty.common;
    requires static transitive org.jspecify;

    exports dev.sluice;
    exports dev.sluice.form;
}

/** An incremental {@code multipart/form-data} decoder on Netty's reference-counted buffers, and a blocking reader on top of it. */
@SuppressWarnings("module") // the modules that use dev.sluice.task are built later
module dev.sluice {
    requires dev.sluice.buffer;
    requires transitive io.netty.buffer;
    requires io.netty.common;
    requires static transitive org.jspecify;

    exports dev.sluice;
    exports dev.sluice.form;
    exports dev.sluice.task to
            dev.sluice.servlet,
            dev.sluice.webflux;
}

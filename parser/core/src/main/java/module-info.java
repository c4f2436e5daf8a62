/**
 * An incremental {@code multipart/form-data} decoder and encoder on Netty's reference-counted buffers, and a blocking reader and a writer
 * on top of them.
 */
@SuppressWarnings("module") // the modules that use internal packages are built later
module dev.sluice {
    requires dev.sluice.buffer;
    requires transitive io.netty.buffer;
    requires io.netty.common;
    requires static transitive java.net.http; // only for publisher() of MultipartBody and OutgoingForm
    requires static transitive org.jspecify;

    exports dev.sluice;
    exports dev.sluice.form;
    exports dev.sluice.form.flow to
            dev.sluice.netty;
    exports dev.sluice.task to
            dev.sluice.s3,
            dev.sluice.servlet;
}

/** Multipart forms in Servlet containers: a filter for any servlet, and asynchronous receiving. */
module dev.sluice.servlet {
    requires transitive dev.sluice;
    requires transitive jakarta.servlet;
    requires io.netty.common;
    requires static transitive org.jspecify;

    exports dev.sluice.servlet;
}

/** Forms in servlet containers: a filter in front of any servlet, and a form that holds no thread while it comes in. */
module dev.sluice.servlet {
    requires transitive dev.sluice;
    requires transitive jakarta.servlet;
    requires io.netty.common;
    requires static transitive org.jspecify;

    exports dev.sluice.servlet;
}

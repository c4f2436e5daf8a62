/** Forms in servlet containers: a filter in front of any servlet, and forms that occupy no thread while they arrive. */
module dev.sluice.servlet {
    requires transitive dev.sluice;
    requires transitive jakarta.servlet;
    requires io.netty.common;
    requires static transitive org.jspecify;

    exports dev.sluice.servlet;
}

/**
 * Bytes and reference counts without MIME: a resumable delimiter search, the memory behind a buffer, an accumulation
 * buffer, text straight from memory. For the core alone.
 */
@SuppressWarnings("module") // which is built later
module dev.sluice.buffer {
    requires transitive io.netty.buffer;
    requires transitive io.netty.common;
    requires static transitive org.jspecify;

    exports dev.sluice.buffer to
            dev.sluice;
}

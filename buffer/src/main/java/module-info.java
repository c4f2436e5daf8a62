/**
 * Bytes and reference counts without MIME: a resumable delimiter search, the memory behind a buffer, an accumulation
 * buffer, text straight from memory, leak levels and counts.
 */
module dev.sluice.buffer {
    requires transitive io.netty.buffer;
    requires transitive io.netty.common;
    requires static transitive org.jspecify;

    exports dev.sluice.buffer;
}

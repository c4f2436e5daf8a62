/**
 * Byte buffers and reference counts, independent of MIME: a resumable delimiter search, direct access to the memory of a buffer, an
 * accumulation buffer, and scans of text. Internal to {@code dev.sluice}.
 */
@SuppressWarnings("module") // dev.sluice is built later
module dev.sluice.buffer {
    requires transitive io.netty.buffer;
    requires transitive io.netty.common;
    requires static transitive org.jspecify;

    exports dev.sluice.buffer to
            dev.sluice;
}

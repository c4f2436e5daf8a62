package dev.sluice.testkit;

/**
 * The limits of the reference parser. Sizes are in bytes; {@link Long#MAX_VALUE} is unlimited.
 *
 * @param maxBodyBytes the whole body
 * @param maxPartBytes the body of one part
 * @param maxParts the maximum number of parts
 * @param maxFiles the maximum number of parts with a file name
 * @param maxHeadersPerPart the maximum number of header fields of one part
 * @param maxHeaderBytesPerPart the header section of one part, with its line ends and the blank line
 * @param maxHeaderBytes all header sections together
 * @param maxPreambleBytes the bytes before the first delimiter
 * @param maxEpilogueBytes the bytes after the line of the close-delimiter
 */
public record ReferenceLimits(
        long maxBodyBytes,
        long maxPartBytes,
        long maxParts,
        long maxFiles,
        int maxHeadersPerPart,
        int maxHeaderBytesPerPart,
        long maxHeaderBytes,
        int maxPreambleBytes,
        int maxEpilogueBytes) {

    /** The defaults of the decoder. */
    public static final ReferenceLimits DEFAULTS = new ReferenceLimits(
            Long.MAX_VALUE, Long.MAX_VALUE, 1000, Long.MAX_VALUE, 32, 8 << 10, 256 << 10, 4 << 10, 4 << 10);

    /** {@return these limits with another value for {@code setting}} */
    public ReferenceLimits with(String setting, long value) {
        return new ReferenceLimits(
                setting.equals("maxBodyBytes") ? value : maxBodyBytes,
                setting.equals("maxPartBytes") ? value : maxPartBytes,
                setting.equals("maxParts") ? value : maxParts,
                setting.equals("maxFiles") ? value : maxFiles,
                setting.equals("maxHeadersPerPart") ? (int) value : maxHeadersPerPart,
                setting.equals("maxHeaderBytesPerPart") ? (int) value : maxHeaderBytesPerPart,
                setting.equals("maxHeaderBytes") ? value : maxHeaderBytes,
                setting.equals("maxPreambleBytes") ? (int) value : maxPreambleBytes,
                setting.equals("maxEpilogueBytes") ? (int) value : maxEpilogueBytes);
    }
}

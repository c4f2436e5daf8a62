package dev.sluice.testkit;

/**
 * The limits the reference parser keeps to. Sizes in bytes; {@link Long#MAX_VALUE} is unlimited.
 *
 * @param maxBodyBytes the whole body
 * @param maxPartBytes the body of one part
 * @param maxParts number of parts
 * @param maxFiles number of parts with a file name
 * @param maxHeadersPerPart number of header fields of one part
 * @param maxHeaderBytesPerPart header section of one part, with its line ends and the blank line
 * @param maxHeaderBytes all header sections together
 * @param maxPreambleBytes what stands before the first delimiter
 * @param maxEpilogueBytes what stands after the line of the close-delimiter
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

    /** The defaults of the policy for the decoder. */
    public static final ReferenceLimits DEFAULTS = new ReferenceLimits(
            Long.MAX_VALUE, Long.MAX_VALUE, 1000, Long.MAX_VALUE, 32, 8 << 10, 256 << 10, 4 << 10, 4 << 10);

    /** {@return these limits with another size of the whole body} */
    public ReferenceLimits withMaxBodyBytes(long value) {
        return new ReferenceLimits(
                value,
                maxPartBytes,
                maxParts,
                maxFiles,
                maxHeadersPerPart,
                maxHeaderBytesPerPart,
                maxHeaderBytes,
                maxPreambleBytes,
                maxEpilogueBytes);
    }

    /** {@return these limits with another size of a part} */
    public ReferenceLimits withMaxPartBytes(long value) {
        return new ReferenceLimits(
                maxBodyBytes,
                value,
                maxParts,
                maxFiles,
                maxHeadersPerPart,
                maxHeaderBytesPerPart,
                maxHeaderBytes,
                maxPreambleBytes,
                maxEpilogueBytes);
    }

    /** {@return these limits with other counts of parts and of parts with a file name} */
    public ReferenceLimits withMaxParts(long parts, long files) {
        return new ReferenceLimits(
                maxBodyBytes,
                maxPartBytes,
                parts,
                files,
                maxHeadersPerPart,
                maxHeaderBytesPerPart,
                maxHeaderBytes,
                maxPreambleBytes,
                maxEpilogueBytes);
    }

    /** {@return these limits with other limits of the header sections} */
    public ReferenceLimits withMaxHeaders(int fieldsPerPart, int bytesPerPart, long bytes) {
        return new ReferenceLimits(
                maxBodyBytes,
                maxPartBytes,
                maxParts,
                maxFiles,
                fieldsPerPart,
                bytesPerPart,
                bytes,
                maxPreambleBytes,
                maxEpilogueBytes);
    }

    /** {@return these limits with other sizes of preamble and epilogue} */
    public ReferenceLimits withMaxOutside(int preamble, int epilogue) {
        return new ReferenceLimits(
                maxBodyBytes,
                maxPartBytes,
                maxParts,
                maxFiles,
                maxHeadersPerPart,
                maxHeaderBytesPerPart,
                maxHeaderBytes,
                preamble,
                epilogue);
    }
}

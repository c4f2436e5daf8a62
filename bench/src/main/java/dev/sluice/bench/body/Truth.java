package dev.sluice.bench.body;

import java.util.zip.CRC32;

/**
 * What a decoder must find in a body.
 *
 * @param parts number of parts
 * @param octets of all part bodies together
 * @param checksum the sum of the CRC-32 of each part body, so the order in which parts are told does not matter
 * @param nameChars characters of all names and file names together
 */
public record Truth(long parts, long octets, long checksum, long nameChars) {

    static long crcOf(byte[] content) {
        CRC32 crc = new CRC32();
        crc.update(content);
        return crc.getValue();
    }
}

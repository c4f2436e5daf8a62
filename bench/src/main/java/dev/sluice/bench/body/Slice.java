package dev.sluice.bench.body;

/**
 * A range of octets of a body.
 *
 * @param array the memory, shared and not to be written
 * @param offset of the first octet in the array
 * @param length in octets
 */
public record Slice(byte[] array, int offset, int length) {}

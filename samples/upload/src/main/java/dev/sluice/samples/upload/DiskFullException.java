package dev.sluice.samples.upload;

import java.io.IOException;

/** A file would leave too little free space on the disk, or found none. */
final class DiskFullException extends IOException {
    private static final long serialVersionUID = 1L;

    DiskFullException(long keepFreeBytes) {
        super("less than " + keepFreeBytes + " bytes are free on the disk of the uploads");
    }

    DiskFullException(IOException cause) {
        super("the disk of the uploads is full", cause);
    }
}

package dev.sluice.form;

import dev.sluice.MultipartException;
import java.io.IOException;
import java.io.UncheckedIOException;

/** The quota of a spool, without the files: a model checker cannot go through what the file system does. */
public final class SpoolRoom {
    private final SpoolDirectory spool;

    /** Begins with nothing reserved, whatever was before. */
    public SpoolRoom(SpoolDirectory spool) {
        this.spool = spool;
        giveBack(spool.bytes());
    }

    /** {@return whether there was room for so many bytes, which are reserved then} */
    public boolean reserves(int bytes) {
        try {
            spool.reserve(bytes);
            return true;
        } catch (MultipartException e) {
            if (e.reason() == MultipartException.Reason.SPOOL_FULL) {
                return false;
            }
            throw new UncheckedIOException(e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Gives back what a file that is gone had reserved. */
    public void giveBack(long bytes) {
        spool.forget(bytes);
    }

    /** {@return the bytes reserved} */
    public long used() {
        return spool.bytes();
    }
}

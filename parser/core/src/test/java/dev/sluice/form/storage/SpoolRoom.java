package dev.sluice.form.storage;

import dev.sluice.MultipartException;
import java.io.IOException;
import java.io.UncheckedIOException;

/** The quota of a spool, used without files, because a model checker cannot explore the file system. */
public final class SpoolRoom {
    private final Spool spool;

    /** Releases all reserved bytes of the spool. */
    public SpoolRoom(Spool spool) {
        this.spool = spool;
        release(spool.bytes());
    }

    /** Reserves bytes if there is room, and returns whether there was. */
    public boolean tryReserve(int bytes) {
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

    /** Releases the bytes of a deleted file. */
    public void release(long bytes) {
        spool.forget(bytes);
    }

    public long used() {
        return spool.bytes();
    }
}

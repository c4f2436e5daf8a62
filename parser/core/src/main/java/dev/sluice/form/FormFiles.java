package dev.sluice.form;

import dev.sluice.MultipartException.Reason;
import dev.sluice.PartHead;
import java.io.IOException;

/** The files that one form keeps its parts in: so many at most, or a small body could make thousands. */
final class FormFiles {
    private final SpoolDirectory spool;
    private final long max;
    private long made;

    FormFiles(SpoolDirectory spool, long max) {
        this.spool = spool;
        this.max = max;
    }

    /** {@return whether there may be one more} */
    boolean hasRoom() {
        return made < max;
    }

    /** {@return a new file for a part, to be written} */
    SpoolFile create(PartHead head) throws IOException {
        if (!hasRoom()) {
            throw head.because(Reason.TOO_MANY_FILES_ON_DISK).limit(max).build();
        }
        SpoolFile file = spool.create();
        made++;
        return file;
    }
}

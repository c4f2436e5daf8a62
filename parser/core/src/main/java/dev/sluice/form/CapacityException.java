package dev.sluice.form;

import java.io.IOException;

/**
 * The server has no room for the upload now: nobody's fault, and worth another try later.
 *
 * <p>Thrown before the resource is used up, not after; adapters answer {@link #httpStatus()}.
 */
public final class CapacityException extends IOException {
    private static final long serialVersionUID = 1L;

    /** What there is too little of. */
    public enum Resource {
        /** The {@link MemoryBudget} of the process. */
        MEMORY(503),
        /** The quota of a {@link SpoolDirectory}. */
        SPOOL_QUOTA(507),
        /** The space that a {@link SpoolDirectory} leaves free on its file system. */
        FREE_SPACE(507);

        private final int httpStatus;

        Resource(int httpStatus) {
            this.httpStatus = httpStatus;
        }
    }

    private final Resource resource;

    CapacityException(Resource resource, String message) {
        super(message);
        this.resource = resource;
    }

    /** {@return what there is too little of} */
    public Resource resource() {
        return resource;
    }

    /** {@return the HTTP status code that fits: 503 for memory, 507 for disk space} */
    public int httpStatus() {
        return resource.httpStatus;
    }
}

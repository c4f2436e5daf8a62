package dev.sluice.form;

import java.io.IOException;

/** The application has refused a part, and the form with it. */
public final class PartRefusedException extends IOException {
    private static final long serialVersionUID = 1L;

    private final int httpStatus;
    private final int partIndex;

    PartRefusedException(int httpStatus, int partIndex, String message) {
        super(message);
        this.httpStatus = httpStatus;
        this.partIndex = partIndex;
    }

    /** {@return the HTTP status to answer, as the application said} */
    public int httpStatus() {
        return httpStatus;
    }

    /** {@return the 0-based index of the part} */
    public int partIndex() {
        return partIndex;
    }
}

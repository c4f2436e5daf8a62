package dev.sluice.bench.migration;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;

/** The endpoint of the migration page: a field {@code title}, and files that are kept under names of the server. */
interface UploadEndpoint {
    /** What the endpoint answers. */
    record Receipt(String title, int files, long bytes) {}

    /** {@return what was received, from the body and the Content-Type of a request; the files are in {@code store}} */
    Receipt receive(InputStream body, String contentType, Path store) throws IOException;
}

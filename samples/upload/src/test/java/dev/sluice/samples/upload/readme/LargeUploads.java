package dev.sluice.samples.upload.readme;

// @start region="large"
import dev.sluice.form.Forms;
import java.io.IOException;
import java.nio.file.Path;

final class LargeUploads {
    /** Accepts forms with a file of up to 2 GiB, in plain Java and with MultipartHandlers in Netty. */
    static Forms open(Path temporaryFiles) throws IOException {
        return Forms.open(temporaryFiles, options -> options.maxBodyBytes(2049L << 20));
    }
}
// @end

package dev.sluice.samples.upload.readme;

// @start region="progress"
import dev.sluice.form.FormHead;
import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import dev.sluice.form.MultipartForm;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.function.LongConsumer;

final class UploadProgress {
    /** Reads a form, and reports the percentage that has arrived, if the length is known. */
    static int receive(Forms forms, InputStream in, String type, long contentLength, LongConsumer percent)
            throws IOException {
        FormHead head = new FormHead(type, contentLength, false);
        FormOptions options = forms.options().toBuilder()
                .progress(
                        now -> {
                            if (now.expectedBytes() > 0) { // -1 if the client sends chunks
                                percent.accept(100 * now.bodyBytes() / now.expectedBytes());
                            }
                        },
                        Duration.ofMillis(500))
                .build();
        try (MultipartForm form = forms.read(in, head, options)) {
            return form.files().size();
        }
    }
}
// @end

package dev.sluice.samples.upload.readme;

// @start region="rejected"
import dev.sluice.form.FormSummary.Outcome;
import dev.sluice.form.Forms;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Consumer;

final class RejectedForms {
    /** Logs each form that fails: the address of the client, and the reason with part, field and offset. */
    static Forms open(Path temporaryFiles, Consumer<String> log) throws IOException {
        return Forms.open(
                temporaryFiles,
                options -> options.metrics(form -> {
                    if (form.outcome() != Outcome.COMPLETED) {
                        log.accept(form.outcome() + " from " + form.remoteAddress() + ": " + form.failure());
                    }
                }));
    }
}
// @end

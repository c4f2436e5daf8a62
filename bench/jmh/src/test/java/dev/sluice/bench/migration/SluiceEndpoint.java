package dev.sluice.bench.migration;

import dev.sluice.form.FormOptions;
import dev.sluice.form.FormPart;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.SpoolDirectory;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Objects;
import java.util.UUID;

/** The endpoint written with Sluice. */
final class SluiceEndpoint implements MigrationTest.UploadEndpoint {
    private final Forms forms;

    SluiceEndpoint(SpoolDirectory spool) {
        this.forms =
                Forms.of(FormOptions.builder(spool, MemoryBudget.of(256 << 20)).build()); // once per process
    }

    // tag::endpoint[]
    @Override
    public Receipt receive(InputStream body, String contentType, Path store) throws IOException {
        try (MultipartForm form = forms.read(body, contentType)) {
            String title = Objects.requireNonNullElse(form.text("title"), "");
            int files = 0;
            long bytes = 0;
            for (FormPart file : form.files()) {
                file.moveTo(store.resolve(UUID.randomUUID().toString()));
                bytes += file.size();
                files++;
            }
            return new Receipt(title, files, bytes);
        }
    }
    // end::endpoint[]
}

package dev.sluice.samples.upload.readme;

// @start region="objects"
import dev.sluice.form.FormHead;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.s3.ObjectStore;
import dev.sluice.s3.S3Form;
import dev.sluice.s3.S3ObjectStore;
import dev.sluice.s3.S3Sinks;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;

final class BucketUploads implements AutoCloseable {
    private final ObjectStore store;
    private final S3Sinks sinks;

    /** Called once per process. */
    BucketUploads(MemoryBudget budget) {
        store = S3ObjectStore.builder("uploads").region("eu-central-1").build();
        sinks = S3Sinks.builder(store, budget).prefix("incoming/").build();
    }

    /** Stores the files of a form, and returns its ID in the store and the keys of its files. */
    String receive(Forms forms, InputStream in, FormHead head) throws IOException {
        S3Form stored = sinks.newForm(); // one per form
        try (MultipartForm form = forms.read(in, head, stored.options(forms.options()))) {
            List<String> keys = new ArrayList<>();
            for (S3Form.StoredPart file : stored.objects()) {
                keys.add(file.stored().key()); // also etag(), size() and crc32()
            }
            return form.text("title") + " is stored as form " + stored.id() + ": " + keys;
        }
    }

    @Override
    public void close() {
        sinks.whenIdle().join(); // aborted forms are cleaned up
        store.close();
    }
}
// @end

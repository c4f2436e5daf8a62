package dev.sluice.samples.upload.readme;

import dev.sluice.Deviation;
import dev.sluice.MultipartException;
import dev.sluice.Preset;
import dev.sluice.form.FormPart;
import dev.sluice.form.Forms;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartDecider;
import dev.sluice.form.PartDecision;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Objects;
import java.util.UUID;

/** The code samples of the guide. */
final class Guide {
    private final Forms forms;
    private final Path directory;
    private int status = 200;

    Guide(Forms forms, Path directory) {
        this.forms = forms;
        this.directory = directory;
    }

    int status() {
        return status;
    }

    String stream(InputStream in, String contentType) throws IOException {
        // @start region="form"
        try (MultipartForm form = forms.read(in, contentType)) {
            String title = form.requireText("title"); // throws if it is missing; the status is 400
            for (FormPart photo : form.files("photo")) { // empty if the user chose no file
                photo.moveTo(directory.resolve(UUID.randomUUID() + ".jpg")); // close() deletes all others
            }
            return title;
        }
        // @end
    }

    // @start region="migration"
    Receipt receive(InputStream body, String contentType, Path store) throws IOException {
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
    // @end

    static PartDecider onlyPdf() {
        // @start region="decider"
        PartDecision rejection = PartDecision.reject(415, "only PDF files are accepted");
        PartDecider decider = part -> {
            if (part.filename() == null) {
                return PartDecision.storeInMemory(); // a field
            } else if ("application/pdf".equals(part.mediaType())) {
                return PartDecision.store();
            } else if (part.filename().isEmpty()) { // no file was chosen if no content follows
                return PartDecision.peek(1, first -> first.length == 0 ? PartDecision.skip() : rejection);
            }
            return rejection;
        };
        // @end
        return decider;
    }

    String answer(InputStream in, String contentType) throws IOException {
        // @start region="errors"
        try (MultipartForm form = forms.read(in, contentType)) {
            return "received " + form.parts().size() + " parts";
        } catch (MultipartException e) {
            status = e.httpStatus();
            return switch (e.reason()) {
                case BODY_TOO_LARGE, PART_TOO_LARGE -> "The limit is " + e.limit() + " bytes.";
                case TOO_MANY_FILES -> "Please send fewer files at once.";
                default -> e.getMessage();
            };
        }
        // @end
    }

    static Preset oneOldClient() {
        // @start region="preset"
        Preset preset = Preset.STANDARD.accepting(Deviation.BARE_LF, Deviation.BARE_LF_IN_HEADER);
        // @end
        return preset;
    }
}

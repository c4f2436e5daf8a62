package dev.sluice.webflux;

import dev.sluice.form.FormPart;
import dev.sluice.form.MultipartForm;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.Disposable;
import reactor.core.scheduler.Schedulers;

/** A received form and its Spring parts. It is closed at the end of the request, or when its last part is deleted. */
final class ReceivedForm implements Disposable {
    private final MultipartForm form;
    private final List<ReceivedPart> parts = new ArrayList<>();
    private final AtomicInteger remaining;

    /**
     * Reads the fields, which may block.
     *
     * @param form <em>transferred</em>, unless this throws
     */
    ReceivedForm(MultipartForm form) throws IOException {
        this.form = form;
        this.remaining = new AtomicInteger(form.parts().size());
        for (FormPart part : form.parts()) {
            parts.add(ReceivedPart.of(part, this));
        }
    }

    List<ReceivedPart> parts() {
        return parts;
    }

    /** Called after a part was deleted. Closes the form after the last one. */
    void partDeleted() {
        if (remaining.decrementAndGet() == 0) {
            form.close();
        }
    }

    @Override
    public void dispose() {
        close(form);
    }

    /** Closes a form. May be called from any thread: files are deleted by a worker. */
    static void close(MultipartForm form) {
        if (form.parts().stream().allMatch(FormPart::isInMemory)) {
            form.close();
            return;
        }
        try {
            Schedulers.boundedElastic().schedule(form::close);
        } catch (RejectedExecutionException e) {
            form.close();
        }
    }
}

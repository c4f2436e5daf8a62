package dev.sluice.webflux;

import dev.sluice.form.FormPart;
import dev.sluice.form.MultipartForm;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;

/** A whole form as Spring's parts. It ends with the request, or with the last of them. */
final class ReceivedForm implements Disposable {
    private final MultipartForm form;
    private final Scheduler workers;
    private final List<ReceivedPart> parts = new ArrayList<>();
    private final AtomicInteger left;

    /**
     * Reads the fields; not on an event loop.
     *
     * @param form <em>transferred</em>, unless this throws
     */
    ReceivedForm(MultipartForm form, Scheduler workers) throws IOException {
        this.form = form;
        this.workers = workers;
        this.left = new AtomicInteger(form.parts().size());
        for (FormPart part : form.parts()) {
            parts.add(ReceivedPart.of(part, this));
        }
    }

    List<ReceivedPart> parts() {
        return parts;
    }

    Scheduler workers() {
        return workers;
    }

    /** One part less. */
    void partDeleted() {
        if (left.decrementAndGet() == 0) {
            form.close();
        }
    }

    /** Any thread: files are deleted on one that may block. */
    @Override
    public void dispose() {
        if (form.parts().stream().allMatch(FormPart::isInMemory)) {
            form.close();
            return;
        }
        try {
            workers.schedule(form::close);
        } catch (RejectedExecutionException e) {
            form.close();
        }
    }
}

package dev.sluice.form;

import dev.sluice.Boundary;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;

/** A source that the test drives: it throws the failure of the intake, and queues resumed work until the test runs it. */
public final class PushedForm implements FormSource, AutoCloseable {
    private final FormHead head;
    final Queue<Runnable> resumed = new ArrayDeque<>();
    int wanted;
    private FormIntake intake;

    PushedForm(FormHead head) {
        this.head = head;
    }

    private static String contentType(Boundary boundary) {
        return boundary.mediaType() + "; boundary=\"" + boundary.value() + "\"";
    }

    public static PushedForm create(Boundary boundary, FormOptions options) throws IOException {
        return create(boundary, options, -1);
    }

    public static PushedForm create(Boundary boundary, FormOptions options, long contentLength) throws IOException {
        PushedForm form = new PushedForm(new FormHead(contentType(boundary), contentLength, false));
        form.intake = Forms.of(options).receive(form, options);
        form.check();
        return form;
    }

    /** {@return the form} No more bytes of a rejected body are read. */
    public static MultipartForm read(InputStream in, Boundary boundary, FormOptions options) throws IOException {
        return Forms.of(options.toBuilder().maxDrainBytes(0).build()).read(in, contentType(boundary));
    }

    @Override
    public FormHead head() {
        return head;
    }

    @Override
    public void wanted() {
        wanted++;
    }

    @Override
    public void resume(Runnable work) {
        resumed.add(work);
    }

    public void runResumed() {
        for (Runnable work = resumed.poll(); work != null; work = resumed.poll()) {
            work.run();
        }
    }

    public FormIntake intake() {
        return intake;
    }

    public void feed(ByteBuf chunk) throws IOException {
        boolean over = intake.isOver();
        intake.offer(chunk);
        if (!over) {
            check();
        }
    }

    public MultipartForm finish() throws IOException {
        intake.finish();
        return result();
    }

    private void check() throws IOException {
        if (intake.isOver()) {
            result();
        }
    }

    MultipartForm result() throws IOException {
        try {
            return intake.completion.join();
        } catch (CompletionException e) {
            throw Readiness.thrown(e.getCause());
        }
    }

    @Override
    public void close() {
        intake.abort(new CancellationException("closed"));
    }
}

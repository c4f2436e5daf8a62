package dev.sluice.servlet;

import dev.sluice.Boundary;
import dev.sluice.form.ConnectionEnding;
import dev.sluice.form.FormAssembler;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import io.netty.buffer.ByteBuf;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * What becomes of the bytes of an asynchronous form: they are put together, or, after a failure, dropped, as long as
 * that is worth it. One thread at a time.
 */
final class AsyncIntake {
    private final FormOptions options;
    private final MemoryBudget.Account account;
    private @Nullable FormAssembler assembler;
    private @Nullable IOException failure;
    private long drainLeft;

    AsyncIntake(FormOptions options) {
        this.options = options;
        this.account = options.memory().open();
    }

    void begin(HttpServletRequest source) {
        long expected = source.getContentLengthLong();
        try {
            RequestBody.checkLength(expected, options);
            Boundary boundary =
                    Boundary.from(source.getContentType(), options.multipart().preset());
            assembler = FormAssembler.create(boundary, options).expectedBytes(expected);
        } catch (IOException e) {
            // Who waits for leave to send would be given it by reading.
            boolean worthIt = source.getHeader("Expect") == null;
            fail(e, worthIt ? ConnectionEnding.of(expected, options.maxDrainBytes()) : new ConnectionEnding(0, false));
        }
    }

    private void fail(IOException reason, ConnectionEnding ending) {
        failure = reason;
        drainLeft = ending.reusable() ? ending.drainBytes() : -1;
        close(reason);
    }

    /** {@return why nothing more is to be read, or null} */
    @Nullable
    IOException givenUp() {
        return drainLeft < 0 ? failure : null;
    }

    /** Charges a chunk that is about to be read into. {@return whether there is room} */
    boolean reserveChunk() {
        FormAssembler running = assembler;
        if (running != null) {
            try {
                account.reserve(ChunkPool.CHUNK_SIZE);
            } catch (IOException e) {
                fail(e, running.ending());
                return false;
            }
        }
        return true;
    }

    void releaseChunk() {
        account.release(account.held());
    }

    /**
     * Takes bytes.
     *
     * @param chunk <em>borrowed</em>
     */
    void take(ByteBuf chunk) {
        FormAssembler running = assembler;
        if (running == null) {
            drainLeft -= chunk.readableBytes();
            return;
        }
        try {
            running.feed(chunk.retain());
        } catch (IOException e) {
            fail(e, running.ending());
        }
    }

    /** {@return the form; the body is at its end} */
    MultipartForm finish() throws IOException {
        FormAssembler running = assembler;
        if (running == null) {
            throw failure != null ? failure : new IOException("the form has ended");
        }
        try {
            MultipartForm form = running.finish();
            account.close();
            return form;
        } catch (IOException e) {
            failure = e;
            throw e;
        }
    }

    /** Gives back what is held. */
    void close(Throwable reason) {
        FormAssembler open = assembler;
        assembler = null;
        if (open != null) {
            try {
                open.close();
            } catch (IOException | RuntimeException | Error e) {
                if (e != reason) { // a sink may throw one and the same again
                    reason.addSuppressed(e);
                }
            }
        }
    }

    /** Gives back what is held, for good. {@return what the application is told: what came first} */
    Throwable end(Throwable reason, boolean atEnd) {
        close(reason);
        account.close();
        IOException refusal = failure;
        if (refusal == null && reason instanceof SlowClientException slow) {
            refusal = slow;
        }
        return refusal == null ? reason : MultipartRequestException.of(refusal, !atEnd);
    }
}

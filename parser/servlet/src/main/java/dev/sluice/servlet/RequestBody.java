package dev.sluice.servlet;

import dev.sluice.Boundary;
import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.ConnectionEnding;
import dev.sluice.form.FormAssembler;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MultipartForm;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.nio.charset.Charset;
import org.jspecify.annotations.Nullable;

/** The body of a request, for a thread that waits for it. */
final class RequestBody {
    private final HttpServletRequest source;
    private final Reception reception;
    private volatile @Nullable PacedStream stream;

    RequestBody(HttpServletRequest source, Reception reception) {
        this.source = source;
        this.reception = reception;
    }

    /** {@return the bytes, for whoever has taken the body} */
    PacedStream open() throws IOException {
        PacedStream opened = new PacedStream(source.getInputStream(), reception);
        stream = opened;
        return opened;
    }

    /** Wakes whoever waits for the client. */
    void shutDown() {
        PacedStream open = stream;
        if (open != null) {
            open.shutDown();
        }
    }

    /**
     * {@return the form}
     *
     * @throws IOException of the connection, as it comes; all other trouble is a {@link MultipartRequestException}
     */
    MultipartForm readForm(FormOptions options) throws IOException {
        PacedStream body = open();
        long expected = source.getContentLengthLong();
        ConnectionEnding ending = ConnectionEnding.of(expected, options.maxDrainBytes());
        try {
            checkLength(expected, options);
            Boundary boundary =
                    Boundary.from(source.getContentType(), options.multipart().preset());
            try (FormAssembler assembler = FormAssembler.create(boundary, inCharset(options))) {
                assembler.expectedBytes(expected);
                try {
                    return reception.readAll(assembler, body, options.memory());
                } catch (IOException e) {
                    ending = assembler.ending();
                    throw e;
                }
            }
        } catch (IOException e) {
            if (body.isClientFailure(e)) {
                throw e;
            }
            throw MultipartRequestException.of(e, !drain(body, ending, e));
        }
    }

    /** {@return the charset that the request or the application named for it, if it is known; or null} */
    @Nullable
    Charset charset() {
        String name = source.getCharacterEncoding();
        try {
            return name == null ? null : Charset.forName(name);
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    /** {@return the options with names in the charset of the request, where it has one} */
    FormOptions inCharset(FormOptions options) {
        Charset named = charset();
        if (named == null || named.equals(options.multipart().headerCharset())) {
            return options;
        }
        try {
            return options.toBuilder()
                    .multipart(multipart -> multipart.headerCharset(named))
                    .build();
        } catch (IllegalArgumentException e) {
            return options; // no charset for header fields, as UTF-16
        }
    }

    /** A body that says that it is too large need not be sent; one that does not say so is counted as it comes. */
    static void checkLength(long expected, FormOptions options) throws MultipartException {
        long max = options.multipart().limits().maxBodyBytes();
        if (expected > max) {
            throw MultipartException.of(
                    Reason.BODY_TOO_LARGE,
                    max,
                    -1,
                    "the size of the multipart body exceeds the limit of " + max
                            + " bytes (maxBodyBytes; the Content-Length is " + expected + ")");
        }
    }

    /** {@return whether the body was read to its end, so that the client reads the answer and may go on} */
    private boolean drain(PacedStream body, ConnectionEnding ending, IOException reason) {
        if (reason instanceof SlowClientException || !ending.reusable()) {
            return false;
        }
        if (!body.hasStarted() && source.getHeader("Expect") != null) {
            return false; // it waits for leave to send: reading would give it
        }
        return body.drain(ending.drainBytes());
    }
}

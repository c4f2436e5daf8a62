package dev.sluice.webflux;

import dev.sluice.form.FormPart;
import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.atomic.AtomicBoolean;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.codec.multipart.FilePart;
import org.springframework.http.codec.multipart.FormFieldPart;
import org.springframework.http.codec.multipart.Part;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** A part of a received form, in memory or in a file. Its buffers are on the heap and need not be released. */
class ReceivedPart implements Part {
    private static final int BUFFER_SIZE = 16 << 10;

    final FormPart part;
    private final ReceivedForm form;
    private final HttpHeaders headers;
    private final AtomicBoolean deleted = new AtomicBoolean();

    private ReceivedPart(FormPart part, ReceivedForm form) {
        this.part = part;
        this.form = form;
        this.headers = HeaderFields.of(part.head());
    }

    static ReceivedPart of(FormPart part, ReceivedForm form) throws IOException {
        if (part.isFile()) {
            return new ReceivedFilePart(part, form);
        }
        return HeaderFields.isField(part.head()) ? new ReceivedFieldPart(part, form) : new ReceivedPart(part, form);
    }

    @Override
    public String name() {
        return part.name();
    }

    @Override
    public HttpHeaders headers() {
        return headers;
    }

    /** {@return the content; can be read repeatedly until the request ends} */
    @Override
    public Flux<DataBuffer> content() {
        Flux<DataBuffer> content = DataBufferUtils.readInputStream(
                part::inputStream, DefaultDataBufferFactory.sharedInstance, BUFFER_SIZE);
        return part.isInMemory() ? content : content.subscribeOn(Schedulers.boundedElastic());
    }

    @Override
    public Mono<Void> delete() {
        Mono<Void> delete = Mono.fromRunnable(this::discard);
        return part.isInMemory() ? delete : delete.subscribeOn(Schedulers.boundedElastic());
    }

    private void discard() {
        if (deleted.compareAndSet(false, true)) {
            part.delete();
            form.partDeleted();
        }
    }

    /** {@return a description for logs, without anything that the client sent} */
    @Override
    public String toString() {
        return part.toString();
    }

    private static final class ReceivedFieldPart extends ReceivedPart implements FormFieldPart {
        private final String value;

        ReceivedFieldPart(FormPart part, ReceivedForm form) throws IOException {
            super(part, form);
            this.value = part.text();
        }

        @Override
        public String value() {
            return value;
        }
    }

    private static final class ReceivedFilePart extends ReceivedPart implements FilePart {
        ReceivedFilePart(FormPart part, ReceivedForm form) {
            super(part, form);
        }

        @Override
        public String filename() {
            return String.valueOf(part.filename());
        }

        /** Copies the content as {@link FormPart#copyTo} does. An existing file is replaced, and remains if the copy fails. */
        @Override
        public Mono<Void> transferTo(Path target) {
            return Mono.<Void>fromCallable(() -> {
                        part.copyTo(target, StandardCopyOption.REPLACE_EXISTING);
                        return null;
                    })
                    .subscribeOn(Schedulers.boundedElastic());
        }
    }
}

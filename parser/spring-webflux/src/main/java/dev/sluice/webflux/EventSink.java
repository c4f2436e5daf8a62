package dev.sluice.webflux;

import dev.sluice.MultipartException;
import dev.sluice.PartHead;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.codec.multipart.FilePartEvent;
import org.springframework.http.codec.multipart.FormPartEvent;
import org.springframework.http.codec.multipart.PartEvent;

/**
 * A sink that turns one part into events: a field into one event, any other part into one event for each buffer.
 *
 * <p>A buffer becomes an event once the next buffer has arrived or the part has ended, as with Spring's own reader.
 * Therefore, if a rejected body fits into one buffer, the error arrives before any event of its files.
 */
final class EventSink implements PartSink {
    private static final byte[] NOTHING = {};

    private final PartHead head;
    private final HttpHeaders headers;
    private final long maxFieldBytes;
    private final EventGate gate;
    private final MemoryBudget.Account memory;
    private @Nullable ByteArrayOutputStream field;
    /** The last buffer of a part that is not a field; empty before the first buffer. */
    private byte[] lastBuffer = NOTHING;

    /** @param memory the account that a field is charged to until it is complete; <em>transferred</em> */
    EventSink(PartHead head, long maxFieldBytes, MemoryBudget.Account memory, EventGate gate) {
        this.head = head;
        this.headers = HeaderFields.of(head);
        this.maxFieldBytes = maxFieldBytes;
        this.memory = memory;
        this.gate = gate;
        this.field = HeaderFields.isField(head) ? new ByteArrayOutputStream() : null;
    }

    @Override
    public Readiness write(ByteBuf data) throws IOException {
        int count = data.readableBytes();
        if (field == null) {
            byte[] previous = lastBuffer;
            lastBuffer = ByteBufUtil.getBytes(data);
            return previous.length == 0 ? Readiness.READY : gate.send(event(previous, false));
        } else if (count > maxFieldBytes - field.size()) {
            throw head.because(MultipartException.Reason.FIELD_TOO_LARGE)
                    .limit(maxFieldBytes)
                    .at(head.offset() + maxFieldBytes)
                    .build();
        }
        memory.reserve(count);
        data.readBytes(field, count);
        return Readiness.READY;
    }

    @Override
    public Readiness complete() {
        if (field == null) {
            byte[] last = lastBuffer;
            lastBuffer = NOTHING;
            return gate.send(event(last, true));
        }
        byte[] bytes = field.toByteArray();
        field = null; // frees the bytes now: the form keeps its sinks until it ends
        memory.close();
        Charset charset = Objects.requireNonNullElse(head.charset(), StandardCharsets.UTF_8);
        return gate.send(new FieldEvent(name(), headers, buffer(bytes), new String(bytes, charset)));
    }

    @Override
    public void close() {
        memory.close();
    }

    private PartEvent event(byte[] bytes, boolean last) {
        String filename = head.filename();
        return filename == null
                ? new OtherEvent(name(), headers, buffer(bytes), last)
                : new FileEvent(name(), filename, headers, buffer(bytes), last);
    }

    private String name() {
        return Objects.requireNonNull(head.name(), "the part has no name, but every part of a form must have one");
    }

    private static DataBuffer buffer(byte[] bytes) {
        return DefaultDataBufferFactory.sharedInstance.wrap(bytes);
    }

    private record FieldEvent(String name, HttpHeaders headers, DataBuffer content, String value)
            implements FormPartEvent {
        @Override
        public boolean isLast() {
            return true;
        }
    }

    private record FileEvent(String name, String filename, HttpHeaders headers, DataBuffer content, boolean isLast)
            implements FilePartEvent {}

    private record OtherEvent(String name, HttpHeaders headers, DataBuffer content, boolean isLast)
            implements PartEvent {}
}

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
 * Turns one part into events: a field into one, any other part into one for each buffer.
 *
 * <p>A buffer becomes an event once the next one has arrived or the part has ended, as with Spring's own reader. If a body of one
 * buffer is refused, a handler that fails at the first event of a file therefore sees the refusal instead.
 */
final class EventSink implements PartSink {
    private static final byte[] NOTHING = {};

    private final PartHead head;
    private final HttpHeaders headers;
    private final long maxFieldBytes;
    private final EventGate gate;
    private final MemoryBudget.Account memory;
    private @Nullable ByteArrayOutputStream field;
    /** The last buffer of a part other than a field; empty before the first one. */
    private byte[] waiting = NOTHING;

    /** @param memory what a field is charged to, as long as it is not complete; <em>transferred</em> */
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
            byte[] before = waiting;
            waiting = ByteBufUtil.getBytes(data);
            return before.length == 0 ? Readiness.READY : gate.send(event(before, false));
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
            byte[] last = waiting;
            waiting = NOTHING;
            return gate.send(event(last, true));
        }
        byte[] bytes = field.toByteArray();
        field = null; // the form keeps its sinks to its end
        memory.close();
        Charset charset = Objects.requireNonNullElse(head.charset(), StandardCharsets.UTF_8);
        return gate.send(new Field(name(), headers, buffer(bytes), new String(bytes, charset)));
    }

    @Override
    public void close() {
        memory.close();
    }

    private PartEvent event(byte[] bytes, boolean last) {
        String filename = head.filename();
        return filename == null
                ? new Other(name(), headers, buffer(bytes), last)
                : new File(name(), filename, headers, buffer(bytes), last);
    }

    private String name() {
        return Objects.requireNonNull(head.name(), "form-data parts have names");
    }

    private static DataBuffer buffer(byte[] bytes) {
        return DefaultDataBufferFactory.sharedInstance.wrap(bytes);
    }

    private record Field(String name, HttpHeaders headers, DataBuffer content, String value) implements FormPartEvent {
        @Override
        public boolean isLast() {
            return true;
        }
    }

    private record File(String name, String filename, HttpHeaders headers, DataBuffer content, boolean isLast)
            implements FilePartEvent {}

    private record Other(String name, HttpHeaders headers, DataBuffer content, boolean isLast) implements PartEvent {}
}

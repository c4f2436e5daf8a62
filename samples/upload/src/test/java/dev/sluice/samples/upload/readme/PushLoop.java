package dev.sluice.samples.upload.readme;

import dev.sluice.Boundary;
import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartDecoder.Event;
import dev.sluice.MultipartException;
import dev.sluice.MultipartReader;
import io.netty.buffer.ByteBuf;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The push loop of the README, embedded in a complete class. */
final class PushLoop implements AutoCloseable {
    private final MultipartDecoder decoder;
    private final Map<String, ByteArrayOutputStream> files = new LinkedHashMap<>();
    private WritableByteChannel file = Channels.newChannel(new ByteArrayOutputStream());

    PushLoop(String contentType) throws MultipartException {
        this.decoder = MultipartDecoder.create(Boundary.formData(contentType));
    }

    void chunk(ByteBuf chunk) throws IOException {
        // @start region="push"
        decoder.feed(chunk); // the decoder now owns the chunk
        Event event;
        while ((event = decoder.next()) != Event.NEED_INPUT && event != Event.END) {
            switch (event) {
                case PART_BEGIN -> file = open(decoder.name(), decoder.filename());
                case DATA -> file.write(decoder.data().nioBuffer()); // a slice of the chunk, valid until the next call
                case PART_END -> file.close();
                default -> throw new AssertionError(event);
            }
        }
        // @end
    }

    void end() throws IOException {
        decoder.finish();
        if (decoder.next() != Event.END) {
            throw new IllegalStateException("the decoder has unread events");
        }
    }

    /** Reads the same parts with the blocking reader. */
    static PushLoop read(Path body, String contentType) throws IOException {
        PushLoop form = new PushLoop(contentType);
        // @start region="pull"
        try (InputStream in = Files.newInputStream(body);
                MultipartReader reader = MultipartReader.create(in, contentType)) { // accepts only forms
            MultipartReader.Part part;
            while ((part = reader.nextPart()) != null) {
                try (WritableByteChannel file = form.open(part.name(), part.filename())) {
                    part.transferTo(file); // or part.text() for a field
                }
            }
        }
        // @end
        return form;
    }

    private WritableByteChannel open(@Nullable String name, @Nullable String filename) {
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        files.put(name + "/" + filename, content);
        return Channels.newChannel(content);
    }

    /** {@return the parts in order, as {@code name/filename} and content} */
    List<String> files() {
        return files.entrySet().stream()
                .map(file -> file.getKey() + ": " + file.getValue().toString(StandardCharsets.UTF_8))
                .toList();
    }

    @Override
    public void close() {
        decoder.close();
    }
}

package dev.sluice.bench.differential;

import dev.sluice.bench.peer.Body;
import dev.sluice.bench.peer.Slice;
import dev.sluice.bench.peer.Tally;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The process of a reader in another language. {@link #close} ends the process. {@code src/main/readers/README.md} describes the
 * protocol. Not thread-safe.
 */
final class ReaderProcess implements AutoCloseable {
    private final Process process;
    private final DataOutputStream to;
    private final DataInputStream from;
    private final ByteArrayOutputStream batch = new ByteArrayOutputStream();
    private final DataOutputStream bodies = new DataOutputStream(batch);
    private int pending;

    /** The version of the library, or of the language if the parser is part of its standard library. */
    final String version;

    /** Returns the folder that {@code SLUICE_READERS} names, or null if {@code .ci/readers} has not filled it. */
    static @Nullable Path folder() {
        String folder = System.getenv("SLUICE_READERS");
        return folder != null && Files.exists(Path.of(folder, "installed.txt")) ? Path.of(folder) : null;
    }

    ReaderProcess(Path folder, Contender contender) {
        List<String> command = new ArrayList<>(contender.command);
        command.replaceAll(word ->
                word.startsWith("./") ? folder.resolve(word.substring(2)).toString() : word);
        try {
            process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            to = new DataOutputStream(process.getOutputStream());
            from = new DataInputStream(process.getInputStream());
            version = new String(from.readNBytes(from.readInt()), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(contender.title + " cannot be started", e);
        }
    }

    void add(Body body) throws IOException {
        List<Slice> chunks = body.cut(0);
        Slice whole = chunks.get(0);
        if (chunks.size() != 1) {
            throw new IllegalArgumentException("The body must have exactly one chunk");
        }
        byte[] type = body.contentType().getBytes(StandardCharsets.UTF_8);
        bodies.writeInt(type.length);
        bodies.write(type);
        bodies.writeInt(whole.length());
        bodies.write(whole.array(), whole.offset(), whole.length());
        pending++;
    }

    /** Sends the batch without waiting for the answers. */
    void send() throws IOException {
        to.writeInt(batch.size());
        batch.writeTo(to);
        to.flush();
        batch.reset();
    }

    /** Waits for the readings of the bodies in the batch, in order. */
    List<Reading> answers() throws IOException {
        from.readInt();
        List<Reading> readings = new ArrayList<>(pending);
        for (; pending > 0; pending--) {
            readings.add(answer());
        }
        return readings;
    }

    private Reading answer() throws IOException {
        if (from.readByte() == 0) {
            return new Reading(List.of(), text());
        }
        List<Tally.Part> parts = new ArrayList<>();
        for (int i = from.readInt(); i > 0; i--) {
            String name = text();
            String filename = text();
            parts.add(new Tally.Part(name, filename, from.readNBytes(from.readInt())));
        }
        return new Reading(parts, null);
    }

    private @Nullable String text() throws IOException {
        int length = from.readInt();
        return length < 0 ? null : new String(from.readNBytes(length), StandardCharsets.UTF_8);
    }

    Reading read(Body body) {
        try {
            add(body);
            send();
            return answers().get(0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Closes the input of the process, so that it exits. If it does not exit within a few seconds, it is killed. */
    @Override
    public void close() {
        List<ProcessHandle> started = process.descendants().toList();
        try {
            to.close();
            process.waitFor(5, TimeUnit.SECONDS);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            process.destroy();
            started.forEach(ProcessHandle::destroy);
        }
    }
}

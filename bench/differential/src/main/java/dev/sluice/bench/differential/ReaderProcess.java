package dev.sluice.bench.differential;

import dev.sluice.bench.peer.Body;
import dev.sluice.bench.peer.Slice;
import dev.sluice.bench.peer.Tally;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The process of a reader in another language. {@link #close} ends the process. {@code parser/testkit/suite/README.md}
 * describes the protocol. Not thread-safe.
 */
final class ReaderProcess implements AutoCloseable {
    private final Process process;
    private final DataOutputStream to;
    private final DataInputStream from;
    private final ByteArrayOutputStream batch = new ByteArrayOutputStream();
    private final DataOutputStream bodies = new DataOutputStream(batch);
    private int pending;
    /** The readings of the last call of {@link #readAhead}, by the identity of the body. */
    private final Map<Body, Reading> known = new IdentityHashMap<>();

    private final List<String> command;
    /** The version, which the process writes first; null until it is read. */
    private @Nullable String version;

    /** Returns the folder that {@code SLUICE_READERS} names, or null if {@code .ci/readers} has not filled it. */
    static @Nullable Path folder() {
        String folder = System.getenv("SLUICE_READERS");
        return folder != null && Files.exists(Path.of(folder, "installed.txt")) ? Path.of(folder) : null;
    }

    /** Starts all readers in other languages. */
    static Map<Contender, ReaderProcess> all(Path folder) {
        Map<Contender, ReaderProcess> processes = new EnumMap<>(Contender.class);
        Contender.foreign().forEach(each -> processes.put(each, new ReaderProcess(folder, each)));
        return processes;
    }

    private ReaderProcess(Path folder, Contender contender) {
        this(contender.command.stream()
                .map(word -> word.startsWith("./")
                        ? folder.resolve(word.substring(2)).toString()
                        : word)
                .toList());
    }

    /** Starts the process without waiting for it, so that many can start at once. */
    ReaderProcess(List<String> command) {
        this.command = command;
        try {
            process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            to = new DataOutputStream(process.getOutputStream());
            from = new DataInputStream(process.getInputStream());
        } catch (IOException e) {
            throw new UncheckedIOException(command + " cannot be started", e);
        }
    }

    /** Adds a body to the batch. Its chunks must have the same size, except the last one. */
    void add(Body body) throws IOException {
        List<Slice> chunks = body.cut(0);
        Slice whole = body.cut(Integer.MAX_VALUE).get(0);
        byte[] type = body.contentType().getBytes(StandardCharsets.UTF_8);
        bodies.writeInt(type.length);
        bodies.write(type);
        bodies.writeInt(chunks.size() == 1 ? 0 : chunks.get(0).length());
        bodies.writeInt(whole.length());
        bodies.write(whole.array(), whole.offset(), whole.length());
        pending++;
    }

    /** Sends the batch without waiting for the readings. */
    void send() throws IOException {
        to.writeInt(batch.size());
        batch.writeTo(to);
        to.flush();
        batch.reset();
    }

    /** Waits for the readings of the bodies in the batch, in order. */
    List<Reading> readings() throws IOException {
        version();
        try {
            from.readInt();
            List<Reading> readings = new ArrayList<>(pending);
            for (; pending > 0; pending--) {
                readings.add(reading());
            }
            return readings;
        } catch (EOFException e) {
            throw new IOException(command + " ended before it had returned all readings", e);
        }
    }

    /** Returns the version of the library, or of the language if the parser is part of its standard library. */
    String version() throws IOException {
        if (version == null) {
            version = new String(from.readNBytes(from.readInt()), StandardCharsets.UTF_8);
        }
        return version;
    }

    private Reading reading() throws IOException {
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

    List<Reading> read(List<Body> some) throws IOException {
        for (Body body : some) {
            add(body);
        }
        send();
        return readings();
    }

    /** Reads bodies that will probably be passed to {@link #read(Body)}, and discards earlier readings. */
    void readAhead(List<Body> some) throws IOException {
        known.clear();
        List<Reading> readings = read(some);
        for (int i = 0; i < readings.size(); i++) {
            known.put(some.get(i), readings.get(i));
        }
    }

    Reading read(Body body) {
        Reading reading = known.get(body);
        try {
            return reading != null ? reading : read(List.of(body)).get(0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Closes the input of the process, so that it exits. If it does not exit within five seconds, it is terminated. */
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

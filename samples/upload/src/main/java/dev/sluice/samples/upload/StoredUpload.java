package dev.sluice.samples.upload;

import dev.sluice.ReportedDeviation;
import dev.sluice.samples.report.Digest;
import dev.sluice.samples.report.ErrorAnswer;
import dev.sluice.samples.report.InspectionReport;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the files of one upload, all of them or none: each is written under a temporary name, and all get their own
 * names when the whole request was good. Form fields are digested and, when short, repeated in the answer. Not
 * thread-safe.
 */
final class StoredUpload implements PartSink {
    private static final Logger LOG = LoggerFactory.getLogger(StoredUpload.class);
    private static final int MAX_VALUE_BYTES = 1024;

    private final UploadDirectory directory;
    private final ServerMetrics metrics;
    private final long startNanos = System.nanoTime();
    private final Digest digest = new Digest();
    private final List<Entry> entries = new ArrayList<>();
    private final byte[] value = new byte[MAX_VALUE_BYTES];
    private @Nullable PartHead head;
    private long headNanos;
    private @Nullable Path partFile;
    private @Nullable FileChannel channel;
    private boolean finished;

    /** A part that is complete; {@code file} is null for one that is not stored. */
    private record Entry(
            PartHead head, UploadReport.Part part, @Nullable Path file) {}

    StoredUpload(UploadDirectory directory, ServerMetrics metrics) {
        this.directory = directory;
        this.metrics = metrics;
    }

    @Override
    public void begin(PartHead head) {
        this.head = head;
        this.headNanos = System.nanoTime();
        digest.reset();
    }

    @Override
    public void data(ByteBuf data) throws IOException {
        PartHead part = current();
        if (part.filename() != null) {
            write(data);
        } else if (digest.size() + data.readableBytes() <= MAX_VALUE_BYTES) {
            data.getBytes(data.readerIndex(), value, (int) digest.size(), data.readableBytes());
        }
        digest.add(data);
    }

    private void write(ByteBuf data) throws IOException {
        FileChannel open = channel == null ? openFile() : channel;
        int index = data.readerIndex();
        try {
            while (index < data.writerIndex()) {
                long position = digest.size() + index - data.readerIndex();
                index += data.getBytes(index, open, position, data.writerIndex() - index);
            }
        } catch (IOException e) {
            throw directory.explained(e, data.writerIndex() - index);
        }
    }

    private FileChannel openFile() throws IOException {
        Path created = directory.newPartFile();
        partFile = created;
        FileChannel opened = FileChannel.open(created, StandardOpenOption.WRITE);
        channel = opened;
        return opened;
    }

    @Override
    public void end() throws IOException {
        PartHead part = current();
        String filename = part.filename();
        // A file input left empty arrives as an empty file name with an empty body: there is nothing to store.
        if (filename != null && !filename.isEmpty() && channel == null) {
            openFile();
        }
        closeChannel();
        entries.add(new Entry(part, report(part), partFile));
        metrics.part(filename != null);
        partFile = null;
        head = null;
    }

    private UploadReport.Part report(PartHead part) {
        double millis = Math.round((System.nanoTime() - headNanos) / 1e3) / 1e3;
        boolean hasValue = part.filename() == null && digest.size() <= MAX_VALUE_BYTES;
        return new UploadReport.Part(
                part.index(),
                part.name(),
                part.filename(),
                part.contentType(),
                digest.size(),
                digest.hex(),
                null,
                hasValue ? new String(value, 0, (int) digest.size(), StandardCharsets.UTF_8) : null,
                millis,
                millis < 1 ? null : Math.round(digest.size() / millis / 10) / 100.0);
    }

    private PartHead current() {
        if (head == null) {
            throw new IllegalStateException("outside of a part");
        }
        return head;
    }

    @Override
    public UploadReport finish(long bodySize, List<ReportedDeviation> deviations) throws IOException {
        List<UploadReport.Part> parts = new ArrayList<>();
        List<Path> published = new ArrayList<>();
        try {
            for (Entry entry : entries) {
                parts.add(publish(entry, published));
            }
        } catch (IOException | RuntimeException e) {
            published.forEach(StoredUpload::delete);
            throw e;
        }
        finished = true;
        long millis = (System.nanoTime() - startNanos) / 1_000_000;
        return new UploadReport(parts, InspectionReport.Deviation.of(deviations), bodySize, millis, null);
    }

    private UploadReport.Part publish(Entry entry, List<Path> published) throws IOException {
        UploadReport.Part part = entry.part();
        if (entry.file() == null) {
            return part;
        }
        String safeFilename = entry.head().safeFilename();
        Path stored = directory.publish(entry.file(), safeFilename == null ? "" : safeFilename);
        published.add(stored);
        return new UploadReport.Part(
                part.index(),
                part.name(),
                part.filename(),
                part.contentType(),
                part.size(),
                part.sha256(),
                String.valueOf(stored.getFileName()),
                part.value(),
                part.millis(),
                part.megabytesPerSecond());
    }

    @Override
    public Object refuse(ErrorAnswer error, List<ReportedDeviation> deviations) {
        return error.asAnswer();
    }

    @Override
    public void close() {
        if (finished) {
            return;
        }
        finished = true;
        try {
            closeChannel();
        } catch (IOException e) {
            LOG.warn("a part file could not be closed", e);
        }
        if (partFile != null) {
            delete(partFile);
        }
        for (Entry entry : entries) {
            if (entry.file() != null) {
                delete(entry.file());
            }
        }
    }

    private void closeChannel() throws IOException {
        if (channel != null) {
            FileChannel open = channel;
            channel = null;
            open.close();
        }
    }

    private static void delete(Path file) {
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            LOG.error("a file of a refused upload could not be deleted: {}", file, e);
        }
    }
}

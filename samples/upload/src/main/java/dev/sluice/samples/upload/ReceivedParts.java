package dev.sluice.samples.upload;

import dev.sluice.PartHead;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartDecider;
import dev.sluice.form.PartDecision;
import dev.sluice.form.PartSink;
import dev.sluice.form.Progress;
import dev.sluice.form.ProgressListener;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.s3.S3Form;
import dev.sluice.samples.report.Digest;
import dev.sluice.samples.report.ErrorResponse;
import dev.sluice.samples.report.InspectionReport;
import dev.sluice.samples.report.UploadReport;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The parts of one body, hashed while they are received. The files of an upload are stored when the whole body has been
 * received; files of an inspection are discarded. Confined to one thread at a time.
 */
final class ReceivedParts implements PartDecider, ProgressListener {
    record Store(SpoolDirectory spool, Path directory) {}

    /** A part whose head was received; its size is -1 until it is complete. */
    private static final class Incoming {
        private final PartHead head;
        private final MessageDigest sha256 = Digest.sha256();
        private final long startNanos = System.nanoTime();
        private long size = -1;
        private double millis;
        private @Nullable String value;
        private @Nullable String storedAs;

        Incoming(PartHead head) {
            this.head = head;
        }

        PartDecision to(PartSink sink) {
            return PartDecision.to(PartSink.digest(sha256, sink));
        }

        String digest() {
            return HexFormat.of().formatHex(sha256.digest());
        }

        UploadReport.Part uploaded(@Nullable S3Form objects) {
            UploadReport.Part part = UploadReport.Part.of(head, size, digest(), storedAs, value, millis);
            return objects == null
                    ? part
                    : objects.objects().stream()
                            .filter(object -> object.part() == head)
                            .map(S3Form.StoredPart::stored)
                            .map(stored -> part.inStore(stored.key(), stored.etag(), stored.crc32()))
                            .findFirst()
                            .orElse(part);
        }
    }

    private static final int MAX_VALUE_BYTES = 1024;
    /** A file name has at most 255 bytes. The extension may need 46 of them, and a dash and a UUID need 37. */
    private static final int MAX_STEM_BYTES = 172;

    private static final int MAX_EXTENSION = 16;
    private static final int MOST_NUMBERED = 1000;

    private final @Nullable Store store;
    private final @Nullable S3Form objects;
    private final long startNanos = System.nanoTime();
    private final List<Incoming> parts = new ArrayList<>();

    /**
     * @param store the destination of the files; null for an inspection
     * @param objects the object store that replaces the directory, or null
     */
    ReceivedParts(@Nullable Store store, @Nullable S3Form objects) {
        this.store = store;
        this.objects = objects;
    }

    @Override
    public PartDecision decide(PartHead head) {
        Incoming part = new Incoming(head);
        parts.add(part);
        String filename = head.filename();
        if (store == null) {
            return part.to(PartSink.discard());
        } else if (filename == null) {
            return PartDecision.peek(MAX_VALUE_BYTES + 1, first -> {
                part.value = first.length > MAX_VALUE_BYTES ? null : new String(first, StandardCharsets.UTF_8);
                return part.to(PartSink.discard());
            });
        } else if (filename.isEmpty()) { // an empty file input has neither name nor content, so nothing is stored
            return PartDecision.peek(1, first -> first.length == 0 ? PartDecision.skip() : stored(part, store));
        }
        return stored(part, store);
    }

    private PartDecision stored(Incoming part, Store store) {
        if (objects != null) {
            return part.to(objects.sink(part.head));
        }
        String safe = part.head.safeFilename();
        String name = safe == null || safe.isEmpty() ? "file" : safe;
        int dot = name.lastIndexOf('.');
        String extension = dot > 0 && name.length() - dot <= MAX_EXTENSION ? name.substring(dot) : "";
        String stem = name.substring(0, name.length() - extension.length());
        while (stem.getBytes(StandardCharsets.UTF_8).length > MAX_STEM_BYTES) {
            stem = stem.substring(0, stem.offsetByCodePoints(stem.length(), -1));
        }
        String base = stem;
        Iterator<Path> free = Stream.concat(
                        Stream.of(""),
                        Stream.concat(
                                IntStream.range(1, MOST_NUMBERED).mapToObj(number -> "-" + number),
                                Stream.generate(() -> "-" + UUID.randomUUID()).limit(1)))
                .map(suffix -> resolve(store.directory(), base + suffix + extension))
                .peek(path -> part.storedAs = String.valueOf(path.getFileName()))
                .iterator();
        return part.to(PartSink.toFile(store.spool(), free));
    }

    private static Path resolve(Path directory, String name) {
        try {
            return directory.resolve(name);
        } catch (InvalidPathException e) {
            // The charset of the file system (for example in the C locale) lacks a character of the name.
            return directory.resolve(name.replaceAll("[^\\x00-\\x7E]", "_"));
        }
    }

    @Override
    public void progressed(Progress progress) {
        Incoming last = parts.isEmpty() ? null : parts.get(parts.size() - 1);
        if (last != null && progress.partEnded() && last.size < 0) {
            last.size = progress.partBytes();
            last.millis = Math.round((System.nanoTime() - last.startNanos) / 1e3) / 1e3;
        }
    }

    Object response(MultipartForm form) {
        List<InspectionReport.Deviation> deviations = InspectionReport.Deviation.of(form.deviations());
        if (store == null) {
            return new InspectionReport(inspected(), deviations, form.bodyBytes(), null);
        }
        long millis = (System.nanoTime() - startNanos) / 1_000_000;
        List<UploadReport.Part> all =
                parts.stream().map(part -> part.uploaded(objects)).toList();
        return new UploadReport(all, deviations, form.bodyBytes(), millis, null);
    }

    Object response(ErrorResponse error) {
        return store == null
                ? new InspectionReport(inspected(), List.of(), Math.max(0, error.offset()), error)
                : error.asResponse();
    }

    private List<InspectionReport.Part> inspected() {
        return parts.stream()
                .filter(part -> part.size >= 0)
                .map(part -> InspectionReport.Part.of(part.head, part.size, part.digest()))
                .toList();
    }
}

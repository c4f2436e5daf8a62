package dev.sluice.s3;

import dev.sluice.PartHead;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The state of the upload of one file of a form. Confined to the events of the form. */
final class FileUpload {
    final PartHead part;
    final ObjectStore.Target target;

    /** The number of the file in the form, from 1. */
    final int number;

    /** Whether the application has chosen the key. */
    final boolean isChosen;

    final TreeMap<Integer, ObjectStore.Piece> pieces = new TreeMap<>();

    /** The multipart upload, or null if there is none. */
    @Nullable
    CompletableFuture<ObjectStore.Created> upload;

    /** The key of the intent, or null if there is none. */
    @Nullable
    String intent;

    /** The number of pieces, known when the file has arrived; 0 if one request stores it. */
    int pieceCount = -1;

    /** The content of a file that one request stores, until it is sent. */
    @Nullable
    Segment content;

    long size;
    String crc32 = "";
    boolean isPublished;

    /** Whether the request that stores the object was made. */
    boolean isStoring;

    ObjectStore.@Nullable Stored stored;

    FileUpload(PartHead part, ObjectStore.Target target, int number, boolean isChosen) {
        this.part = part;
        this.target = target;
        this.number = number;
        this.isChosen = isChosen;
    }

    /** {@return whether another upload under the same key may exist, so that a sweep must look for it} */
    boolean mayHaveOthers() {
        return uploadId() != null && !Objects.requireNonNull(upload).join().isOnly();
    }

    /** {@return the multipart upload, or null if there is none} */
    @Nullable
    String uploadId() {
        return upload == null || !upload.isDone() || upload.isCompletedExceptionally()
                ? null
                : upload.join().id();
    }

    /**
     * {@return whether the store may have an object or an upload of this file that the record of the committed form
     * does not list}
     */
    boolean isUnlisted() {
        return !isPublished && !isChosen && (upload != null || isStoring);
    }

    /** {@return the stored file, for the record} */
    FormRecord.File recorded() {
        return new FormRecord.File(
                Objects.requireNonNullElse(part.name(), ""),
                Objects.requireNonNullElse(part.filename(), ""),
                target.contentType(),
                Objects.requireNonNull(stored),
                uploadId());
    }

    void releaseContent() {
        if (content != null) {
            content.release();
            content = null;
        }
    }

    /** {@return whether all pieces are stored, so that the upload can be completed} */
    boolean isUploaded() {
        return pieceCount > 0 && pieces.size() == pieceCount;
    }
}

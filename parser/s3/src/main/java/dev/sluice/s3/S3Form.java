package dev.sluice.s3;

import dev.sluice.PartHead;
import dev.sluice.form.FormAdmission;
import dev.sluice.form.FormOptions;
import dev.sluice.form.PartDecider;
import dev.sluice.form.PartDecision;
import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One form whose files go to an object store. It exists in the store completely, or not at all: see {@link #id()} and {@link
 * S3Sinks#find}. {@link FormUpload} describes its states.
 *
 * <p>As a decider, it sends files to the store, and keeps fields and inputs that were left empty in memory. As an admission, it commits the
 * form after everything else has succeeded. The form's options need both, as {@link #options} sets them.
 */
public final class S3Form implements PartDecider, FormAdmission {
    private static final int MAX_NAME_LENGTH = 1024;
    private static final int MAX_TYPE_LENGTH = 256;

    /** The minimum of {@code maxSinkWait}. The store has shorter time limits, but they do not end a form if the store is only slow. */
    private static final Duration MIN_SINK_WAIT = Duration.ofMinutes(10);

    private static final String UNKNOWN_TYPE = "application/octet-stream";

    /** A stored file of a committed form: the headers of its part, and the object. */
    public record StoredPart(PartHead part, ObjectStore.Stored stored) {}

    final S3Sinks sinks;
    private final String id = CommitProtocol.random();
    private final FormUpload upload;

    S3Form(S3Sinks sinks) {
        this.sinks = sinks;
        this.upload = new FormUpload(sinks, id);
    }

    /** {@return the identifier of the form in the store, 32 random hexadecimal digits} */
    public String id() {
        return id;
    }

    /**
     * {@return options for this form only: its files go to the store, and it is committed at its end} For all sinks of the form, {@code
     * maxSinkWait} is raised to ten minutes: if the store is silent, its own default time limits end the form earlier, and if it is only slow,
     * the form continues.
     *
     * @param defaults the options of all forms
     */
    public FormOptions options(FormOptions defaults) {
        return options(defaults.toBuilder()).build();
    }

    /** {@return {@code options}, changed as in {@link #options(FormOptions)}} */
    public FormOptions.Builder options(FormOptions.Builder options) {
        Duration given = options.build().maxSinkWait();
        return options.admission(this)
                .decider(this)
                .maxSinkWait(given.compareTo(MIN_SINK_WAIT) < 0 ? MIN_SINK_WAIT : given);
    }

    /** {@inheritDoc} Ready when there is memory for a small form. */
    @Override
    public Readiness admit() {
        return upload.admit();
    }

    @Override
    public PartDecision decide(PartHead part) {
        String filename = part.filename();
        if (filename == null) {
            return PartDecision.storeInMemory();
        }
        Function<byte[], @Nullable String> sniffer = claimedType(part) == null ? sinks.sniffer : null;
        if (sniffer == null && !filename.isEmpty()) {
            return PartDecision.to(sink(part));
        }
        return PartDecision.peek(sniffer == null ? 1 : sinks.sniffedBytes, first -> {
            if (filename.isEmpty() && first.length == 0) {
                return PartDecision.storeInMemory(); // the user left the input empty
            }
            return PartDecision.to(
                    sniffer == null
                            ? sink(part)
                            : sink(part, Objects.requireNonNullElse(sniffer.apply(first), UNKNOWN_TYPE)));
        });
    }

    /** {@return a sink for this part, under a random key} */
    public PartSink sink(PartHead part) {
        return sink(part, Objects.requireNonNullElse(claimedType(part), UNKNOWN_TYPE));
    }

    /** {@return the media type that the client claims, if the settings allow it and it fits into a header; otherwise null} */
    private @Nullable String claimedType(PartHead part) {
        String claimed = sinks.clientContentType ? part.contentType() : null;
        return claimed != null && claimed.length() <= MAX_TYPE_LENGTH && claimed.matches("[ -~]+") ? claimed : null;
    }

    /**
     * {@return a sink for this part, under a random key}
     *
     * @param contentType the media type of the object
     */
    public PartSink sink(PartHead part, String contentType) {
        return upload.add(part, null, contentType, metadata(part));
    }

    /**
     * {@return a sink for this part, under a key of the application} Such an object is not part of the all-or-nothing guarantee: it appears
     * just before the form is committed, and stays if the commit fails. Sluice never deletes it.
     *
     * @param contentType the media type of the object
     * @param key the name of the object, chosen by the application, never by the client. An existing object is replaced, unless
     *     {@link S3Sinks.Builder#onlyNew} is set
     * @throws IllegalArgumentException if the key could belong to a form, such as {@code <prefix><form id>/1}
     */
    public PartSink sink(PartHead part, String contentType, String key) {
        if (sinks.protocol.isOwn(key)) {
            throw new IllegalArgumentException("the key " + key + " is reserved for the forms of this prefix");
        }
        return upload.add(part, key, contentType, metadata(part));
    }

    /** Returns the metadata of an object. The identifier of the form in it identifies an object under a chosen key. */
    private Map<String, String> metadata(PartHead part) {
        String name = part.filename();
        return name == null ? Map.of("form", id) : Map.of("form", id, "filename", encoded(name));
    }

    /** {@return {@code text} with percent escapes, as in URIs, shortened to fit into a header} */
    private static String encoded(String text) {
        StringBuilder encoded = new StringBuilder();
        for (int at = 0, c; at < text.length(); at += Character.charCount(c)) {
            c = text.codePointAt(at);
            String next = URLEncoder.encode(Character.toString(c), StandardCharsets.UTF_8)
                    .replace("+", "%20")
                    .replace("*", "%2A")
                    .replace("_", "%5F");
            if (encoded.length() + next.length() > MAX_NAME_LENGTH) {
                break;
            }
            encoded.append(next);
        }
        return encoded.toString();
    }

    /** {@return the files of the committed form, in order; empty before the commit} */
    public List<StoredPart> objects() {
        return upload.objects;
    }

    /** {@inheritDoc} Ready when the record of the form is in the store. A form without files is not stored. */
    @Override
    public Readiness commit() throws IOException {
        return upload.commit();
    }

    /** {@inheritDoc} Fails the form unless its record is being written. */
    @Override
    public void cancelCommit(Throwable reason) {
        upload.cancelCommit(reason);
    }

    @Override
    public void ended() {
        upload.ended();
    }
}

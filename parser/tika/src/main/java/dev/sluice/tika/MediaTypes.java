package dev.sluice.tika;

import dev.sluice.PartHead;
import dev.sluice.form.PartDecider;
import dev.sluice.form.PartDecision;
import java.io.IOException;
import java.util.Objects;
import org.apache.tika.io.TikaInputStream;
import org.apache.tika.metadata.HttpHeaders;
import org.apache.tika.metadata.Metadata;
import org.apache.tika.metadata.TikaCoreProperties;
import org.apache.tika.mime.MimeTypeException;
import org.apache.tika.mime.MimeTypes;
import org.apache.tika.parser.ParseContext;

/**
 * Factories of deciders that use the media type detected in the first bytes of a part.
 *
 * {@snippet file="dev/sluice/tika/MediaTypesTest.java" region="pictures"}
 *
 * <p>The detected type is a guess, not a guarantee. A file can be valid in two formats at once, and later bytes are not
 * examined. {@code image/svg+xml} may contain scripts. Formats based on ZIP ({@code .docx}, {@code .jar}) are distinguished
 * only with hints.
 *
 * <p>Deciders are immutable, and thread-safe if the given {@link Decision} is. Tika's table of types is loaded when the first
 * decider is created.
 */
public final class MediaTypes {
    /** A decision based on the detected type. */
    @FunctionalInterface
    public interface Decision {
        /**
         * {@return the decision for the part; never a {@link PartDecision#peek}}
         *
         * @param part the head of the part
         * @param type the detected media type in lower case, without parameters; {@code application/octet-stream} if it
         *     is unknown or the part is empty
         * @throws IOException if no decision is possible; the form then fails
         */
        PartDecision decide(PartHead part, String type) throws IOException;
    }

    private MediaTypes() {}

    /**
     * {@return a decider that uses only the bytes and ignores what the client declares}
     *
     * @param bytes the number of bytes to examine, 1 to 8192. They are held in memory until the decision. 4096 bytes are enough
     *     for nearly all formats, 64 for images
     * @throws IllegalArgumentException if {@code bytes} is out of range
     */
    public static PartDecider sniff(int bytes, Decision decision) {
        return decider(bytes, false, decision);
    }

    /**
     * {@return a decider that also uses the {@code Content-Type} and the file name sent by the client, to choose among the
     * formats that the bytes allow}
     *
     * <p>A hint can make a type more specific (a ZIP archive becomes a {@code .docx}, text becomes a {@code .csv}), and it is
     * used if the bytes are inconclusive. It never overrides the bytes. A {@code Content-Type} that Tika does not know is
     * ignored.
     *
     * @param bytes the same as for {@link #sniff}
     * @throws IllegalArgumentException if {@code bytes} is out of range
     */
    public static PartDecider sniffWithHints(int bytes, Decision decision) {
        return decider(bytes, true, decision);
    }

    private static PartDecider decider(int bytes, boolean hints, Decision decision) {
        Objects.requireNonNull(decision, "decision");
        PartDecision.peek(bytes, first -> PartDecision.skip()); // rejects an invalid number now, not at the first part
        MimeTypes types = MimeTypes.getDefaultMimeTypes();
        return part -> PartDecision.peek(bytes, first -> decision.decide(part, type(types, first, part, hints)));
    }

    private static String type(MimeTypes types, byte[] first, PartHead part, boolean hints) throws IOException {
        Metadata metadata = new Metadata();
        String declared = part.mediaType();
        if (hints && declared != null && isKnown(types, declared)) {
            metadata.set(HttpHeaders.CONTENT_TYPE, declared);
        }
        if (hints && part.filename() != null) {
            metadata.set(TikaCoreProperties.RESOURCE_NAME_KEY, part.filename());
        }
        try (TikaInputStream in = TikaInputStream.get(first)) {
            return types.detect(in, metadata, new ParseContext()).getBaseType().toString();
        }
    }

    /**
     * {@return whether Tika knows the type} With an unknown type as a hint, detection would add the type to the table of Tika
     * permanently, so clients could make the table grow without limit.
     */
    private static boolean isKnown(MimeTypes types, String type) {
        try {
            return types.getRegisteredMimeType(type) != null;
        } catch (MimeTypeException e) {
            return false;
        }
    }
}

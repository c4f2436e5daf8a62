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
 * Deciders that look at the first bytes of a part and ask what they are.
 *
 * {@snippet file="dev/sluice/tika/MediaTypesTest.java" region="pictures"}
 *
 * <p>The type is a guess at a format, not a promise: a file may be of two formats at once, and what follows the first
 * bytes is not looked at. {@code image/svg+xml} may hold scripts. Formats inside a ZIP archive ({@code .docx}, {@code .jar}) are told apart only by hints.
 *
 * <p>Deciders are immutable and thread-safe, if what was put into them is. The table of types is read when the first
 * decider is made.
 */
public final class MediaTypes {
    /** Decides by the type that was found. */
    @FunctionalInterface
    public interface Decision {
        /**
         * {@return what to do with the part; not {@link PartDecision#look}}
         *
         * @param part what its headers say
         * @param type its media type in lower case, without parameters; {@code application/octet-stream} where nothing
         *     is known, also for a part without content
         * @throws IOException if it cannot be decided; the form has then failed
         */
        PartDecision decide(PartHead part, String type) throws IOException;
    }

    private MediaTypes() {}

    /**
     * {@return a decider that goes by the bytes alone, whatever the client says of them}
     *
     * @param bytes how many to look at, 1 to 8192; they are held in memory until then. 4096 tell nearly all formats, 64
     *     those of pictures
     * @throws IllegalArgumentException if {@code bytes} is out of range
     */
    public static PartDecider sniff(int bytes, Decision decision) {
        return decider(bytes, false, decision);
    }

    /**
     * {@return a decider that lets the {@code Content-Type} and the file name of the part, which are the client's, choose
     * among the formats that its bytes allow}
     *
     * <p>A hint makes a type more special (a ZIP archive a {@code .docx}, text a {@code .csv}) and is believed where the
     * bytes say nothing; it does not overrule them. A {@code Content-Type} that is not in the table of types is none.
     *
     * @param bytes as {@link #sniff}
     * @throws IllegalArgumentException if {@code bytes} is out of range
     */
    public static PartDecider sniffWithHints(int bytes, Decision decision) {
        return decider(bytes, true, decision);
    }

    private static PartDecider decider(int bytes, boolean hints, Decision decision) {
        Objects.requireNonNull(decision, "decision");
        PartDecision.look(bytes, first -> PartDecision.skip()); // refuses the number now, not with the first part
        MimeTypes types = MimeTypes.getDefaultMimeTypes();
        return part -> PartDecision.look(bytes, first -> decision.decide(part, type(types, first, part, hints)));
    }

    private static String type(MimeTypes types, byte[] first, PartHead part, boolean hints) throws IOException {
        Metadata metadata = new Metadata();
        String said = part.mediaType();
        if (hints && said != null && isKnown(types, said)) {
            metadata.set(HttpHeaders.CONTENT_TYPE, said);
        }
        if (hints && part.filename() != null) {
            metadata.set(TikaCoreProperties.RESOURCE_NAME_KEY, part.filename());
        }
        try (TikaInputStream in = TikaInputStream.get(first)) {
            return types.detect(in, metadata, new ParseContext()).getBaseType().toString();
        }
    }

    /** Others would be added to the table, for ever: as many as clients make up. */
    private static boolean isKnown(MimeTypes types, String type) {
        try {
            return types.getRegisteredMimeType(type) != null;
        } catch (MimeTypeException e) {
            return false;
        }
    }
}

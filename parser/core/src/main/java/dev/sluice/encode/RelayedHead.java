package dev.sluice.encode;

import dev.sluice.MultipartEncoder;
import dev.sluice.MultipartException.Reason;
import dev.sluice.PartHead;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The head of a part of a relayed form. It is written only after the first content or the end of the part has been read, because only a
 * part without content may have an empty file name.
 *
 * @param client the head that the client sent; null for an added part
 */
public record RelayedHead(
        String name,
        @Nullable String filename,
        @Nullable String contentType,
        @Nullable PartHead client) {

    /** {@return a head with the names and the type that the client sent} */
    public static RelayedHead of(PartHead head) {
        return new RelayedHead(Objects.requireNonNullElse(head.name(), ""), head.filename(), head.contentType(), head);
    }

    /**
     * {@return the bytes to send before the content, <em>transferred</em> to the caller}
     *
     * @throws IllegalArgumentException if the application has changed or added the part, and a recipient could misread it
     * @throws dev.sluice.MultipartException if the client sent the part like this, and a recipient could misread it
     */
    public ByteBuf begin(MultipartEncoder encoder, boolean hasContent) throws IOException {
        try {
            return "".equals(filename) && !hasContent
                    ? encoder.emptyFileInput(name)
                    : encoder.beginPart(name, filename, type());
        } catch (IllegalArgumentException e) {
            if (client == null || !equals(of(client))) {
                throw e;
            }
            throw client.because(Reason.MALFORMED_HEADER)
                    .saying(String.valueOf(e.getMessage()))
                    .cause(e)
                    .build();
        }
    }

    /** {@return the type to write, which may replace the type of the client} */
    private @Nullable String type() {
        String type = contentType;
        return type != null
                        && client != null
                        && type.equals(client.contentType())
                        && !HeadWriter.acceptsType(type, filename == null)
                ? HeadWriter.replacement(type, filename == null)
                : type;
    }
}

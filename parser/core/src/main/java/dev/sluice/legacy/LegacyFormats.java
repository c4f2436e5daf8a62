package dev.sluice.legacy;

import java.io.IOException;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The entry point to the formats of this package. */
public final class LegacyFormats {
    private LegacyFormats() {}

    /**
     * {@return a decoder for a {@code Content-Transfer-Encoding} (RFC 2045 section 6); null if it is unknown or does not change bytes}
     *
     * @param error creates the exception for malformed bytes from a description of the problem
     */
    public static @Nullable TransferDecoder transferDecoder(
            @Nullable String encoding, Function<String, IOException> error) {
        return switch (encoding == null ? "" : encoding.toLowerCase(Locale.ROOT)) {
            case "base64" -> new Base64Decoder(error);
            case "quoted-printable" -> new QuotedPrintableDecoder();
            default -> null;
        };
    }

    /** {@return the decoded RFC 2047 words of {@code text}; null if it contains anything else or a word that cannot be decoded} */
    public static @Nullable String encodedWords(String text) {
        return EncodedWords.in(text);
    }

    /**
     * {@return the text of {@code charset'language'value} (RFC 8187); null if an escape is malformed or the charset is unknown} For values
     * that are split into several parameters, see {@link Continuations}.
     */
    public static @Nullable String extendedValue(byte[] bytes, int from, int to) {
        return ExtendedValue.decode(bytes, from, to);
    }
}

package dev.sluice.samples.report;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the sample servers ask of the head of a request with a body. */
public final class HeadRules {
    private HeadRules() {}

    /**
     * {@return what is wrong, or null}
     *
     * @param preset of the query, or null where that names none that there is
     * @param origin the {@code Origin}, or null
     * @param host the {@code Host}, or what stands for none
     * @param encoded whether there is a {@code Content-Encoding}
     * @param types all {@code Content-Type}s
     */
    public static @Nullable ErrorAnswer fault(
            @Nullable PresetName preset, @Nullable String origin, String host, boolean encoded, List<String> types) {
        if (preset == null) {
            return ErrorAnswer.http(400, "UNKNOWN_PRESET", "preset has to be standard, strict or compatible");
        }
        // Any page of the web can make a browser send a form to this server; only its own page may.
        if (origin != null
                && !origin.equalsIgnoreCase("http://" + host)
                && !origin.equalsIgnoreCase("https://" + host)) {
            return ErrorAnswer.http(403, "CROSS_ORIGIN", "pages of other origins may not upload here");
        }
        if (encoded) {
            return ErrorAnswer.http(415, "CONTENT_ENCODING", "a body with a Content-Encoding is not taken");
        }
        return types.size() > 1
                ? ErrorAnswer.http(400, "DUPLICATE_CONTENT_TYPE", "there is more than one Content-Type")
                : null;
    }
}

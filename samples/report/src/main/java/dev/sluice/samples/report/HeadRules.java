package dev.sluice.samples.report;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The rules of the sample servers for the head of a request with a body. */
public final class HeadRules {
    private HeadRules() {}

    /**
     * {@return the error of the first violated rule, or null}
     *
     * @param preset the preset in the query, or null if the query names an unknown one
     * @param origin the {@code Origin}, or null
     * @param host the {@code Host}, or any other text if there is none
     * @param encoded whether there is a {@code Content-Encoding}
     * @param types all {@code Content-Type}s
     */
    public static @Nullable ErrorResponse fault(
            @Nullable PresetName preset, @Nullable String origin, String host, boolean encoded, List<String> types) {
        if (preset == null) {
            return ErrorResponse.http(400, "UNKNOWN_PRESET", "the preset must be standard, strict or compatible");
        }
        // Any web page can make a browser send a form here. Only this server's own page may.
        if (origin != null
                && !origin.equalsIgnoreCase("http://" + host)
                && !origin.equalsIgnoreCase("https://" + host)) {
            return ErrorResponse.http(403, "CROSS_ORIGIN", "pages of other origins must not upload to this server");
        }
        if (encoded) {
            return ErrorResponse.http(415, "CONTENT_ENCODING", "a body with a Content-Encoding is not accepted");
        }
        return types.size() > 1
                ? ErrorResponse.http(400, "DUPLICATE_CONTENT_TYPE", "the request has more than one Content-Type")
                : null;
    }
}

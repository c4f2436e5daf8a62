package dev.sluice.servlet;

import java.net.URLDecoder;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringTokenizer;
import org.jspecify.annotations.Nullable;

/** The parameters of a query string, for where the container cannot be asked. */
final class QueryString {
    private QueryString() {}

    /** {@return the parameters, in order; an {@link IllegalArgumentException} says that an escape is broken} */
    static Map<String, String[]> parameters(@Nullable String query, @Nullable Charset charset) {
        Charset known = charset != null ? charset : StandardCharsets.UTF_8;
        Map<String, List<String>> all = new LinkedHashMap<>();
        StringTokenizer pairs = new StringTokenizer(query != null ? query : "", "&");
        while (pairs.hasMoreTokens()) {
            String pair = pairs.nextToken();
            int sign = pair.indexOf('=');
            String name = URLDecoder.decode(sign < 0 ? pair : pair.substring(0, sign), known);
            String value = sign < 0 ? "" : URLDecoder.decode(pair.substring(sign + 1), known);
            all.computeIfAbsent(name, key -> new ArrayList<>(1)).add(value);
        }
        Map<String, String[]> parameters = new LinkedHashMap<>();
        all.forEach((name, values) -> parameters.put(name, values.toArray(new String[0])));
        return parameters;
    }
}

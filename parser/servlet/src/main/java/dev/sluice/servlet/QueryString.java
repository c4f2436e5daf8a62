package dev.sluice.servlet;

import java.net.URLDecoder;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringTokenizer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A parser of query strings, used where {@code getParameter} of the container might also parse the body. */
final class QueryString {
    private static final Pattern ASCII = Pattern.compile("\\p{ASCII}+");

    private QueryString() {}

    /**
     * {@return the parameters in order}
     *
     * @param charset null for UTF-8
     * @param strict whether to reject malformed escapes and escaped bytes that are invalid in the charset. If false, a
     *     name or value with a malformed escape is not decoded
     * @throws IllegalArgumentException if {@code strict} is true and {@code query} is malformed
     */
    static Map<String, String[]> parameters(@Nullable String query, @Nullable Charset charset, boolean strict) {
        Charset known = charset != null ? charset : StandardCharsets.UTF_8;
        Map<String, List<String>> all = new LinkedHashMap<>();
        StringTokenizer pairs = new StringTokenizer(query != null ? query : "", "&");
        while (pairs.hasMoreTokens()) {
            String pair = pairs.nextToken();
            int sign = pair.indexOf('=');
            String name = decoded(sign < 0 ? pair : pair.substring(0, sign), known, strict);
            String value = sign < 0 ? "" : decoded(pair.substring(sign + 1), known, strict);
            all.computeIfAbsent(name, key -> new ArrayList<>(1)).add(value);
        }
        Map<String, String[]> parameters = new LinkedHashMap<>();
        all.forEach((name, values) -> parameters.put(name, values.toArray(new String[0])));
        return parameters;
    }

    private static String decoded(String text, Charset charset, boolean strict) {
        if (!strict || text.indexOf('%') < 0) {
            try {
                return URLDecoder.decode(text, charset);
            } catch (IllegalArgumentException e) {
                return text;
            }
        }
        // Characters outside ASCII, which clients may send unescaped, stay as they are.
        return ASCII.matcher(text).replaceAll(run -> Matcher.quoteReplacement(strictlyDecoded(run.group(), charset)));
    }

    private static String strictlyDecoded(String text, Charset charset) {
        ByteBuffer bytes = ByteBuffer.wrap(
                URLDecoder.decode(text, StandardCharsets.ISO_8859_1).getBytes(StandardCharsets.ISO_8859_1));
        try {
            return charset.newDecoder().decode(bytes).toString();
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException("the query string is not valid in " + charset, e);
        }
    }
}

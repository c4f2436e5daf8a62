package dev.sluice.header;

import java.util.ArrayList;
import java.util.List;

/**
 * The rules for parameters in the Content-Type of a part. Some parsers take them for the name, file name, type or charset of the part.
 *
 * <p>Netty splits the value at semicolons outside of quotes, or at commas if it has no semicolon. In every piece, even the first, it looks
 * for {@code =}. If a piece starts with {@code charset}, its value is the charset in which Netty searches for the delimiter that ends the
 * part. {@code name} and {@code filename} replace the parameters of the Content-Disposition, and {@code content-type},
 * {@code content-length} and {@code content-transfer-encoding} replace the header fields; blanks before the {@code =} prevent this. Every
 * parameter without {@code =} replaces the media type.
 *
 * <p>Rack 2 searches all header fields of a part for {@code ; filename=} and {@code ; filename*=}. It finds them even in some quoted
 * values.
 */
final class PartType {
    static final String CHARSET = "charset";
    private static final String PLAIN_CHARSET = CHARSET + '=';
    private static final List<String> READ_BY_NETTY =
            List.of("name=", "filename=", "content-type=", "content-length=", "content-transfer-encoding=");

    private PartType() {}

    /** {@return whether Netty or Rack finds a name, file name or header field of the part in {@code contentType}} */
    static boolean describesPart(String contentType) {
        List<String> pieces = pieces(contentType);
        // Without a semicolon, the grammar sees no parameters, and the pieces between commas may have no value.
        boolean hasParameters = contentType.contains(";");
        if (hasParameters && pieces.stream().skip(1).anyMatch(PartType::hasNoValue)
                || pieces.stream().anyMatch(PartType::isReadByNetty)) {
            return true;
        }
        for (int at = contentType.indexOf(';'); at >= 0; at = contentType.indexOf(';', at + 1)) {
            int from = at + 1;
            while (from < contentType.length() && Bytes.isBlank(contentType.charAt(from))) {
                from++;
            }
            if (starts(contentType, from, "filename=") || starts(contentType, from, "filename*=")) {
                return true;
            }
        }
        return false;
    }

    private static boolean hasNoValue(String parameter) {
        return !parameter.isEmpty() && !parameter.contains("=") && !starts(parameter, 0, CHARSET);
    }

    private static boolean isReadByNetty(String piece) {
        return READ_BY_NETTY.stream().anyMatch(name -> starts(piece, 0, name));
    }

    /** {@return whether some parsers find a charset other than the first {@code charset=} in {@code contentType}} */
    static boolean isCharsetAmbiguous(String contentType) {
        int plain = 0;
        TypeParameters parameters = TypeParameters.of(contentType);
        while (parameters.next()) {
            String parameter = parameters.current();
            if (starts(parameter, 0, CHARSET)) {
                String rest = parameter.substring(CHARSET.length());
                if (rest.startsWith("*")
                        || !rest.startsWith("=") && rest.stripLeading().startsWith("=")) {
                    return true;
                }
                plain += rest.startsWith("=") ? 1 : 0;
            }
        }
        int found = 0;
        for (String piece : pieces(contentType)) {
            if (starts(piece, 0, CHARSET) && piece.contains("=")) {
                if (!starts(piece, 0, PLAIN_CHARSET)) {
                    return true;
                }
                found++;
            }
        }
        return plain > 1 || plain != found;
    }

    /** {@return the pieces of {@code contentType} as Netty splits it, without surrounding blanks} */
    private static List<String> pieces(String contentType) {
        List<String> pieces = new ArrayList<>();
        if (!contentType.contains(";")) {
            int from = 0;
            for (int comma; (comma = contentType.indexOf(',', from)) >= 0; from = comma + 1) {
                pieces.add(contentType.substring(from, comma).strip());
            }
            pieces.add(contentType.substring(from).strip());
        } else {
            TypeParameters parameters = new TypeParameters(contentType, -1);
            while (parameters.next()) {
                pieces.add(parameters.current());
            }
        }
        return pieces;
    }

    private static boolean starts(String text, int from, String prefix) {
        return text.regionMatches(true, from, prefix, 0, prefix.length());
    }
}

package dev.sluice.testkit;

import dev.sluice.testkit.DeviationLog.Failure;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A parser of the {@code Content-Disposition} of a part (rows 28 to 42 of {@code parser/docs/policy.md}). */
final class ReferenceDisposition {
    private static final String MALFORMED = "MALFORMED_CONTENT_DISPOSITION";
    private static final Pattern KNOWN = Pattern.compile("(file)?name(\\*([0-9]+\\*?)?)?");
    private static final Pattern LOOKALIKE = Pattern.compile(".*\\*.*|.*[^a-z](file)?name");
    private static final Pattern ENCODED_WORD = Pattern.compile("=\\?([^?]*)\\?([BbQq])\\?([^?]*)\\?=");

    private final ReferenceField field;
    private final int part;
    private final boolean formData;
    private final PresetRules rules;
    private final DeviationLog log;
    private final List<Parameter> parameters = new ArrayList<>(2);
    private int at;
    private @Nullable String name;
    private @Nullable String filename;
    private byte @Nullable [] rawName;
    private byte @Nullable [] rawFilename;

    ReferenceDisposition(ReferenceField field, int part, boolean formData, PresetRules rules, DeviationLog log) {
        this.field = field;
        this.part = part;
        this.formData = formData;
        this.rules = rules;
        this.log = log;
    }

    /** @param offset the offset of the first byte of its name */
    private record Parameter(String name, byte[] value, int offset) {}

    /** @param deviation the deviation of the value; empty if the value is malformed */
    private record Verdict(String deviation, int offset) {}

    @Nullable
    String name() {
        return name;
    }

    @Nullable
    String filename() {
        return filename;
    }

    byte @Nullable [] rawName() {
        return rawName;
    }

    byte @Nullable [] rawFilename() {
        return rawFilename;
    }

    void parse() {
        type();
        parameters();
        List<Verdict> verdicts = new ArrayList<>(2);
        name(verdicts);
        fileNames(verdicts);
        verdicts.sort(Comparator.comparingInt(Verdict::offset));
        for (Verdict verdict : formData ? verdicts : List.<Verdict>of()) {
            if (verdict.deviation.isEmpty()) {
                throw new Failure(MALFORMED, verdict.offset, part);
            }
            log.met(verdict.deviation, MALFORMED, part, verdict.offset);
        }
    }

    private void name(List<Verdict> verdicts) {
        Parameter plain = parameter("name");
        Parameter extended = parameter("name*");
        if (plain != null) {
            rawName = plain.value;
            name = inWords(plain, verdicts);
        } else if (formData) {
            Extended decoded = extended == null ? null : Extended.decode(extended.value);
            if (decoded == null) {
                throw new Failure("MISSING_NAME", field.offset(0), part);
            }
            log.met("EXTENDED_NAME", "MISSING_NAME", part, field.offset(0));
            rawName = decoded.bytes;
            name = decoded.text;
        }
        for (Parameter parameter : parameters) {
            if (parameter == extended && plain != null || isContinuation(parameter.name, "name*")) {
                verdicts.add(new Verdict("UNUSABLE_EXTENDED_PARAMETER", parameter.offset));
            }
        }
    }

    /** {@return the value as text, decoded if it consists of encoded words and the preset decodes them} See row 41. */
    private String inWords(Parameter parameter, List<Verdict> verdicts) {
        String text = utf8(parameter.value);
        StringBuilder decoded = new StringBuilder();
        for (String word : text.split("[ \t]+", -1)) {
            Matcher matcher = ENCODED_WORD.matcher(word);
            String said = matcher.matches() ? word(matcher.group(1), matcher.group(2), matcher.group(3)) : null;
            if (said == null) {
                return text;
            }
            decoded.append(said);
        }
        verdicts.add(new Verdict("ENCODED_WORD", parameter.offset));
        return rules.decodes() ? decoded.toString() : text;
    }

    private static @Nullable String word(String charsetName, String encoding, String text) {
        boolean quote = charsetName.contains("'");
        Charset charset = quote ? null : Extended.charset((charsetName + "'").getBytes(StandardCharsets.ISO_8859_1));
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        if (encoding.equalsIgnoreCase("B")) {
            try {
                bytes.writeBytes(Base64.getDecoder().decode(text));
            } catch (IllegalArgumentException e) {
                return null;
            }
        } else {
            if (!text.matches("[!-~]*")) {
                return null;
            }
            Matcher escapes = Pattern.compile("=([0-9A-Fa-f]{2})|(.)").matcher(text.replace('_', ' '));
            while (escapes.find()) {
                if (escapes.group().equals("=")) {
                    return null;
                }
                bytes.write(
                        escapes.group(1) == null ? escapes.group().charAt(0) : Integer.parseInt(escapes.group(1), 16));
            }
        }
        return charset == null ? null : Extended.strict(bytes.toByteArray(), charset);
    }

    private void type() {
        String type = token();
        if (type.isEmpty()) {
            throw malformed(at);
        }
        if (formData && !type.equalsIgnoreCase("form-data")) {
            log.met("DISPOSITION_TYPE", MALFORMED, part, field.offset(0));
        }
    }

    private void parameters() {
        for (; ; ) {
            at = afterBlanks(at);
            if (at == field.length()) {
                return;
            }
            if (!is(at, ';')) {
                throw malformed(at);
            }
            at = afterBlanks(at + 1);
            if (is(at, ';')) {
                met("LOOSE_PARAMETER", at);
            } else if (at < field.length()) {
                parameter();
            }
        }
    }

    private void parameter() {
        int nameStart = at;
        String key = token().toLowerCase(Locale.ROOT);
        if (key.isEmpty()) {
            throw malformed(at);
        }
        int equals = afterBlanks(at);
        if (equals == field.length() || is(equals, ';')) {
            if (KNOWN.matcher(key).matches()) {
                throw malformed(at);
            }
            met("LOOSE_PARAMETER", at);
            return;
        }
        if (!is(equals, '=') || equals > at && !rules.accepts("DISPOSITION_SYNTAX")) {
            throw malformed(equals); // the grammar allows no blank before the equals sign
        }
        boolean once = key.equals("name") || key.equals("filename") || key.equals("name*") || key.equals("filename*");
        if (once && parameter(key) != null) {
            throw new Failure("DUPLICATE_PARAMETER", field.offset(nameStart), part);
        }
        if (!KNOWN.matcher(key).matches()) {
            unknown(key, nameStart);
        }
        if (equals > at) {
            oddSyntax(equals);
        }
        at = afterBlanks(equals + 1);
        if (at > equals + 1) {
            oddSyntax(equals + 1);
        }
        int first = is(at, '"') ? at + 1 : at;
        boolean marked = is(first, 'ï') && is(first + 1, '»') && is(first + 2, '¿'); // U+FEFF in UTF-8
        if (marked && (key.equals("name") || key.equals("filename"))) {
            met("BYTE_ORDER_MARK", first);
        }
        byte[] value = is(at, '"') ? quoted() : unquoted();
        parameters.add(new Parameter(key, value, field.offset(nameStart)));
    }

    /** Reports an unknown parameter that is repeated, or that other parsers may take for a known one. */
    private void unknown(String key, int nameStart) {
        if (formData && parameter(key) != null) {
            log.met("REPEATED_PARAMETER", "DUPLICATE_PARAMETER", part, field.offset(nameStart));
        }
        if (LOOKALIKE.matcher(key).matches()) {
            met("LOOKALIKE_PARAMETER", nameStart);
        }
    }

    private byte[] unquoted() {
        int start = at;
        for (; isUnquoted(at); at++) {
            tokenOrLoose(at);
        }
        int end = at;
        int next = afterBlanks(at);
        if (at > start && next > at && isUnquoted(next)) {
            oddSyntax(next);
            for (at = next; at < field.length() && !is(at, ';'); at++) {
                if (isUnquoted(at)) {
                    tokenOrLoose(at);
                    end = at + 1;
                } else if (!Bytes.isBlank(field.b(at))) {
                    throw malformed(at);
                }
            }
        } else if (at == start || !isValueEnd(at)) {
            throw malformed(at == start ? at : next);
        }
        ByteArrayOutputStream value = new ByteArrayOutputStream();
        for (int i = start; i < end; i++) {
            value.write(field.b(i));
        }
        return value.toByteArray();
    }

    private void tokenOrLoose(int i) {
        if (!Bytes.isToken(field.b(i))) {
            met("LOOSE_PARAMETER", i);
        }
    }

    private boolean isUnquoted(int i) {
        return i < field.length() && field.b(i) > ' ' && field.b(i) != 0x7F && !is(i, '"') && !is(i, ';');
    }

    /** Finds the end of the value, reports its deviations from left to right, and decodes its escapes. */
    private byte[] quoted() {
        int start = ++at;
        int junk = -1;
        int end = -1;
        for (int i = start; i < field.length() && end < 0; i++) {
            if (is(i, '\\')) {
                i += isPair(i) ? 1 : 0;
            } else if (is(i, '"')) {
                if (junk >= 0 && is(i - 1, '=')) {
                    break; // some parsers find a second parameter here
                }
                end = isValueEnd(i + 1) ? i : -1;
                junk = end < 0 && junk < 0 ? afterBlanks(i + 1) : junk;
                if (end < 0 && !rules.accepts("DISPOSITION_SYNTAX")) {
                    break;
                }
            }
        }
        int odd = junk;
        if (end < 0 && junk < 0 && rules.accepts("DISPOSITION_SYNTAX")) {
            for (int i = start; i < field.length(); i++) {
                end = is(i, '"') && isValueEnd(i + 1)
                        ? i
                        : end; // the last quote ends the value, although it is escaped
            }
            odd = end - 1;
        }
        int failure = end >= 0 ? -1 : junk >= 0 ? junk : field.length();
        byte[] value = judged(start, end >= 0 ? end : failure, end >= 0 ? odd : -1);
        if (failure >= 0) {
            throw malformed(failure);
        }
        at = end + 1;
        return value;
    }

    private boolean isPair(int i) {
        return is(i + 1, '"') || is(i + 1, '\\');
    }

    /** @param odd the offset at which to report {@code DISPOSITION_SYNTAX}, or -1 */
    private byte[] judged(int from, int to, int odd) {
        ByteArrayOutputStream value = new ByteArrayOutputStream();
        for (int i = from; i < to; i++) {
            if (i == odd) {
                oddSyntax(odd);
            }
            if (is(i, '\\')) {
                met(is(i + 1, '\\') ? "ESCAPED_BACKSLASH" : "BACKSLASH", i);
                if (isPair(i) && i + 1 < to) {
                    i++;
                    if (i == odd) {
                        oddSyntax(odd);
                    }
                }
            } else if (Bytes.isControl(field.b(i))) {
                if (formData) {
                    log.met("CONTROL_IN_DISPOSITION", "MALFORMED_HEADER", part, field.offset(i));
                }
            }
            value.write(field.b(i));
        }
        if (odd == to) {
            oddSyntax(odd);
        }
        return value.toByteArray();
    }

    /** Records a deviation, but only if the body is form-data. */
    private void met(String kind, int i) {
        if (formData) {
            log.met(kind, MALFORMED, part, field.offset(i));
        }
    }

    private boolean isValueEnd(int from) {
        int i = afterBlanks(from);
        return i == field.length() || is(i, ';');
    }

    /** Chooses the file name, by RFC 7578 section 4.2 and the practice of clients. */
    private void fileNames(List<Verdict> verdicts) {
        Parameter plain = parameter("filename");
        Parameter extended = parameter("filename*");
        Extended decoded = extended == null ? null : Extended.decode(extended.value);
        List<Parameter> pieces = new ArrayList<>(2);
        for (Parameter parameter : parameters) {
            if (isContinuation(parameter.name, "filename*")) {
                pieces.add(parameter);
            }
        }
        if (plain != null) {
            rawFilename = plain.value;
            filename = utf8(plain.value);
        }
        if (extended != null && decoded != null) {
            if (plain == null) {
                verdicts.add(new Verdict("EXTENDED_FILENAME", extended.offset));
            } else {
                boolean same = decoded.text.equals(filename);
                verdicts.add(new Verdict(
                        same ? "TWO_FILENAMES" : "CONFLICTING_FILENAMES", Math.max(plain.offset, extended.offset)));
            }
            if (plain == null
                    || rules.decodes()
                    || isEncodedWord(plain.value)
                    || isLossy(utf8(plain.value), decoded.text)) {
                rawFilename = decoded.bytes;
                filename = decoded.text;
                plain = null;
            }
        }
        boolean lone = parameter("filename") == null && decoded == null;
        if (plain != null) {
            filename = inWords(plain, verdicts);
        } else if (lone && !pieces.isEmpty() && rules.decodes()) {
            join(pieces);
            if (filename == null) {
                verdicts.add(new Verdict("", pieces.get(0).offset));
            }
        } else if (lone && extended != null && rules.accepts("UNREADABLE_FILENAME")) {
            rawFilename = extended.value;
            filename = utf8(extended.value);
        }
        lone &= filename == null || pieces.isEmpty() || !rules.decodes();
        if (extended != null && decoded == null) {
            verdicts.add(new Verdict(lone ? "UNREADABLE_FILENAME" : "UNUSABLE_EXTENDED_PARAMETER", extended.offset));
        }
        if (!pieces.isEmpty()) {
            verdicts.add(new Verdict(lone ? "UNREADABLE_FILENAME" : "PARAMETER_CONTINUATION", pieces.get(0).offset));
        }
    }

    /** {@return whether {@code plain} is {@code whole} with {@code ?} or {@code _} instead of non-ASCII characters} */
    private static boolean isLossy(String plain, String whole) {
        StringBuilder pattern = new StringBuilder();
        whole.codePoints().forEach(c -> {
            String same = Pattern.quote(Character.toString(c));
            pattern.append(c < 128 ? same : "(?:[?_]|" + same + ")");
        });
        return Pattern.compile(pattern.toString(), Pattern.DOTALL)
                .matcher(plain)
                .matches();
    }

    /** Joins the continuations 0, 1, 2 and so on, in any order, without duplicates and gaps (RFC 2231 section 3). */
    private void join(List<Parameter> pieces) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        Charset charset = null;
        for (int i = 0; i < pieces.size(); i++) {
            Parameter plain = only(pieces, "filename*" + i);
            Parameter extended = only(pieces, "filename*" + i + "*");
            Parameter piece = plain == null ? extended : plain;
            if (piece == null || (plain != null && extended != null)) {
                return;
            }
            if (piece == plain) {
                bytes.writeBytes(piece.value);
                continue;
            }
            byte[] value = piece.value;
            int from = 0;
            if (i == 0) {
                charset = Extended.charset(value);
                from = Extended.afterLanguage(value);
            }
            if (charset == null || from < 0 || !Extended.percentDecode(value, from, bytes)) {
                return;
            }
        }
        if (pieces.isEmpty()) {
            return;
        }
        byte[] joined = bytes.toByteArray();
        String text = charset == null ? utf8(joined) : Extended.strict(joined, charset);
        if (text != null) {
            rawFilename = joined;
            filename = text;
        }
    }

    private static @Nullable Parameter only(List<Parameter> pieces, String name) {
        Parameter found = null;
        for (Parameter piece : pieces) {
            if (piece.name.equals(name)) {
                if (found != null) {
                    return null;
                }
                found = piece;
            }
        }
        return found;
    }

    /** {@return whether {@code name} consists of {@code prefix}, digits, and possibly another asterisk} */
    private static boolean isContinuation(String name, String prefix) {
        if (!name.startsWith(prefix)) {
            return false;
        }
        int end = name.length() > prefix.length() && name.endsWith("*") ? name.length() - 1 : name.length();
        for (int i = prefix.length(); i < end; i++) {
            if (name.charAt(i) < '0' || name.charAt(i) > '9') {
                return false;
            }
        }
        return end > prefix.length();
    }

    /** {@return whether {@code value} looks like an encoded word (RFC 2047 section 2)} */
    private static boolean isEncodedWord(byte[] value) {
        String text = new String(value, StandardCharsets.ISO_8859_1);
        return text.length() >= 4 && text.startsWith("=?") && text.endsWith("?=");
    }

    private @Nullable Parameter parameter(String key) {
        for (Parameter parameter : parameters) {
            if (parameter.name.equals(key)) {
                return parameter;
            }
        }
        return null;
    }

    private String token() {
        StringBuilder token = new StringBuilder();
        while (at < field.length() && Bytes.isToken(field.b(at))) {
            token.append((char) field.b(at));
            at++;
        }
        return token.toString();
    }

    private int afterBlanks(int from) {
        int i = from;
        while (i < field.length() && Bytes.isBlank(field.b(i))) {
            i++;
        }
        return i;
    }

    private boolean is(int i, char c) {
        return i < field.length() && field.b(i) == c;
    }

    private void oddSyntax(int i) {
        log.met("DISPOSITION_SYNTAX", MALFORMED, part, field.offset(i));
    }

    private Failure malformed(int i) {
        boolean control = i < field.length() && Bytes.isControl(field.b(i));
        return new Failure(control ? "MALFORMED_HEADER" : MALFORMED, field.offset(i), part);
    }

    private static String utf8(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** An extended value, {@code charset'language'bytes} (RFC 8187 section 3.2.1). */
    private record Extended(String text, byte[] bytes) {
        static @Nullable Extended decode(byte[] value) {
            Charset charset = charset(value);
            int from = afterLanguage(value);
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            if (charset == null || from < 0 || !percentDecode(value, from, bytes)) {
                return null;
            }
            String text = strict(bytes.toByteArray(), charset);
            return text == null ? null : new Extended(text, bytes.toByteArray());
        }

        static @Nullable Charset charset(byte[] value) {
            String text = new String(value, StandardCharsets.ISO_8859_1);
            int quote = text.indexOf('\'');
            String name = quote < 0 ? "" : text.substring(0, quote);
            if (name.equalsIgnoreCase("UTF-8")) {
                return StandardCharsets.UTF_8;
            }
            return name.equalsIgnoreCase("ISO-8859-1") ? StandardCharsets.ISO_8859_1 : null;
        }

        static int afterLanguage(byte[] value) {
            String text = new String(value, StandardCharsets.ISO_8859_1);
            int second = text.indexOf('\'', text.indexOf('\'') + 1);
            return second < 0 ? -1 : second + 1;
        }

        static boolean percentDecode(byte[] value, int from, ByteArrayOutputStream bytes) {
            for (int i = from; i < value.length; i++) {
                if (value[i] == '%') {
                    int high = i + 1 < value.length ? Character.digit(value[i + 1], 16) : -1;
                    int low = i + 2 < value.length ? Character.digit(value[i + 2], 16) : -1;
                    if (high < 0 || low < 0) {
                        return false;
                    }
                    bytes.write(high << 4 | low);
                    i += 2;
                } else if (Bytes.isToken(value[i]) && value[i] != '*' && value[i] != '\'') {
                    bytes.write(value[i]);
                } else {
                    return false;
                }
            }
            return true;
        }

        static @Nullable String strict(byte[] bytes, Charset charset) {
            try {
                return charset.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
            } catch (CharacterCodingException e) {
                return null;
            }
        }
    }
}

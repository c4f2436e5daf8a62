package dev.sluice.fuzz;

import dev.sluice.Boundary;
import dev.sluice.Decoding.Part;
import dev.sluice.Decoding.Result;
import dev.sluice.MultipartException;
import dev.sluice.PartHead.Header;
import dev.sluice.Preset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A form with names, file names, header fields and contents chosen by the fuzzer, encoded according to RFC 2046 section
 * 5.1.1, RFC 7578 section 4 and RFC 9110 section 5.6.4. It provides the bytes and the expected result.
 */
final class EncodedForm {
    static final String BCHARS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'()+_,-./:=? ";
    private static final String TOKEN_CHARS =
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~";
    private static final HexFormat HEX = HexFormat.of().withUpperCase();
    private static final String[] PADDING = {"", "", " ", "\t", " \t "};
    private static final String[] CLOSE = {"", "\r\n", " ", "\t\r\n"};
    private static final String[] ENCODINGS = {"binary", "7bit", "8BIT"};
    private static final Pattern CONTROLS = Pattern.compile("[\\x00-\\x1F\\x7F&&[^\\t]]");
    private static final int LONGEST_BOUNDARY = 70;

    private final Input in;
    private final String boundary;
    private final Bytes body = new Bytes(1024);
    private final List<Part> parts = new ArrayList<>();
    private boolean sameWithBareLf = true;

    private EncodedForm(Input in) {
        this.in = in;
        this.boundary = boundary(in);
        write();
    }

    static EncodedForm of(Input in) {
        return new EncodedForm(in);
    }

    Boundary boundary() throws MultipartException {
        return Boundary.anyMultipart(contentType(), Preset.STRICT);
    }

    String contentType() {
        return "multipart/form-data; boundary=\"" + boundary + "\"";
    }

    byte[] body() {
        return body.toByteArray();
    }

    /** {@return whether a parser that accepts a bare LF as a line end finds the same delimiters} */
    boolean isSameWithBareLf() {
        return sameWithBareLf;
    }

    /** {@return the expected result} */
    Result meaning() {
        return new Result(parts, List.of(), 0, body.size(), null);
    }

    /**
     * Returns a boundary that repeats one to four characters, so that it overlaps with itself. It does not end with a
     * space.
     */
    private static String boundary(Input in) {
        int length = 1 + in.below(LONGEST_BOUNDARY);
        int period = 1 + in.below(4);
        char[] chars = new char[length];
        for (int i = 0; i < length; i++) {
            chars[i] = i < period ? BCHARS.charAt(in.below(BCHARS.length())) : chars[i - period];
        }
        if (chars[length - 1] == ' ') {
            chars[length - 1] = '-';
        }
        return new String(chars);
    }

    private void write() {
        int parts = in.below(5);
        int flags = in.next();
        body.add((flags & 1) == 0 ? "" : "\r\n");
        for (int i = 0; i < parts; i++) {
            body.add("--").add(boundary).add(PADDING[in.below(PADDING.length)]).add("\r\n");
            part(i);
            body.add("\r\n");
        }
        body.add("--").add(boundary).add("--").add(CLOSE[flags >> 1 & 3]);
    }

    private void part(int index) {
        int flags = in.next();
        String name = text();
        String filename = (flags & 1) == 0 ? null : text();
        String type = (flags & 2) == 0 ? null : "application/x-" + token();
        Bytes headers = new Bytes(128);
        List<Header> fields = new ArrayList<>();
        if ((flags & 4) != 0) {
            field(headers, fields, "X-" + token(), text());
        }
        if (type != null && (flags & 8) != 0) {
            field(headers, fields, "content-type", type);
        }
        field(
                headers,
                fields,
                (flags & 16) == 0 ? "Content-Disposition" : "CONTENT-DISPOSITION",
                disposition(name, filename, flags));
        if (type != null && (flags & 8) == 0) {
            field(headers, fields, "Content-Type", type);
        }
        if ((flags & 32) != 0) {
            field(headers, fields, "Content-Transfer-Encoding", ENCODINGS[in.below(ENCODINGS.length)]);
        }
        body.add(headers.toByteArray()).add("\r\n");
        int offset = body.size();
        byte[] content = content((flags & 64) != 0);
        body.add(content);
        String latin1 = new String(content, StandardCharsets.ISO_8859_1);
        parts.add(new Part(index, fields, name, filename, type, offset, latin1, true));
    }

    private void field(Bytes headers, List<Header> fields, String name, String value) {
        String blanks = PADDING[in.below(PADDING.length)];
        byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
        headers.add(name).add(":").add(blanks).add(bytes).add(blanks).add("\r\n");
        fields.add(new Header(name, new String(trimmed(bytes), StandardCharsets.UTF_8)));
    }

    /** Strips the leading and trailing blanks. The value contains no control characters. */
    private static byte[] trimmed(byte[] value) {
        return Bytes.latin1(new String(value, StandardCharsets.ISO_8859_1).strip());
    }

    private String disposition(String name, @Nullable String filename, int flags) {
        String nameParameter = "name=" + value(name);
        if (filename == null) {
            return "form-data; " + nameParameter;
        }
        String plain = "filename=" + value(filename);
        int order = in.below(8);
        String extended = order == 1 || order == 2
                ? "filename*=" + ((flags & 16) == 0 ? "UTF-8''" : "utf-8'en-GB'") + percentEncoded(filename)
                : "";
        return switch (order) {
            case 0 -> "form-data; " + plain + "; " + nameParameter;
            case 1 -> "form-data; " + nameParameter + "; " + plain + "; " + extended;
            case 2 -> "form-data; " + extended + "; " + plain + ";" + nameParameter;
            case 3 -> "Form-Data ;\t" + nameParameter + " ; " + plain;
            default -> "form-data; " + nameParameter + "; " + plain;
        };
    }

    /** Returns a token if possible and chosen by the fuzzer, otherwise a quoted string. */
    private String value(String text) {
        boolean wanted = (in.next() & 1) != 0;
        if (wanted && !text.isEmpty() && text.chars().allMatch(c -> TOKEN_CHARS.indexOf(c) >= 0)) {
            return text;
        }
        return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
    }

    /** Encodes a value according to RFC 8187 section 3.2. */
    private static String percentEncoded(String text) {
        StringBuilder encoded = new StringBuilder();
        for (byte b : text.getBytes(StandardCharsets.UTF_8)) {
            char c = (char) (b & 0xFF);
            if (TOKEN_CHARS.indexOf(c) >= 0 && c != '*' && c != '\'' && c != '%') {
                encoded.append(c);
            } else {
                encoded.append('%').append(HEX.toHexDigits(b));
            }
        }
        return encoded.toString();
    }

    private String token() {
        StringBuilder token = new StringBuilder();
        for (int count = 1 + in.below(6); count > 0; count--) {
            token.append(TOKEN_CHARS.charAt(in.below(TOKEN_CHARS.length())));
        }
        return token.toString();
    }

    /** Returns arbitrary text, without the control characters that are not allowed in a header value. */
    private String text() {
        String text = new String(in.take(in.below(48)), StandardCharsets.UTF_8);
        return CONTROLS.matcher(text).replaceAll("");
    }

    /** Returns arbitrary bytes, truncated before the last byte of the first delimiter in them. */
    private byte[] content(boolean ofTokens) {
        byte[] bytes = in.take(in.next());
        byte[] content = ofTokens ? Tokens.of(boundary).expand(bytes) : bytes;
        byte[] delimiter = Bytes.latin1("\r\n--" + boundary);
        byte[] line = new Bytes(content.length + 2).add("\r\n").add(content).toByteArray();
        int at = Bytes.indexOf(line, delimiter, 0);
        byte[] kept = at < 0 ? content : Arrays.copyOfRange(line, 2, at + delimiter.length - 1);
        sameWithBareLf &= Bytes.indexOf(kept, Bytes.latin1("\n--" + boundary), 0) < 0;
        return kept;
    }

    @Override
    public String toString() {
        return contentType() + " " + body;
    }
}

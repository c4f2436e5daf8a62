package dev.sluice.bench.differential;

import dev.sluice.testkit.Outcome;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A request that STRICT accepts, taken apart so that single things about it can be changed and it can be put together again.
 * Texts hold a byte per character. Not thread-safe.
 */
final class Anatomy {
    private static final int PLAIN_SIZE = 16;

    String contentType;
    String boundary;
    /** Before the first delimiter: nothing, or one line end. */
    String lead;

    final List<Piece> pieces = new ArrayList<>();
    /** After the two dashes of the close-delimiter. */
    String tail;

    /** A body part. */
    static final class Piece {
        final List<Field> fields = new ArrayList<>();
        String content = "";
    }

    /** A header field: name, and all that follows the colon. */
    static final class Field {
        String name;
        String rest;

        Field(String name, String rest) {
            this.name = name;
            this.rest = rest;
        }

        boolean is(String other) {
            return name.equalsIgnoreCase(other);
        }

        String value() {
            return rest.strip();
        }
    }

    /** Takes a request apart that the reference parser accepts with the rules of STRICT. */
    Anatomy(Sample sample, String boundary, Outcome outcome) {
        this.contentType = sample.contentType();
        this.boundary = boundary;
        String text = new String(sample.bytes(), StandardCharsets.ISO_8859_1);
        String dash = "--" + boundary;
        int at = text.startsWith(dash) ? 0 : 2;
        lead = text.substring(0, at);
        at += dash.length();
        for (Outcome.Part part : outcome.parts()) {
            Piece piece = new Piece();
            int line = text.indexOf("\r\n", at);
            int end = part.bodyOffset() + part.body().length;
            piece.content = text.substring(part.bodyOffset(), end);
            for (at = line + 2; !text.startsWith("\r\n", at); ) {
                int lineEnd = text.indexOf("\r\n", at);
                int colon = text.indexOf(':', at);
                piece.fields.add(new Field(text.substring(at, colon), text.substring(colon + 1, lineEnd)));
                at = lineEnd + 2;
            }
            pieces.add(piece);
            at = end + 2 + dash.length();
        }
        tail = text.substring(at + 2);
    }

    /** Puts it together. */
    Sample toSample(Sample.Origin origin) {
        StringBuilder text = new StringBuilder(lead);
        for (Piece piece : pieces) {
            text.append("--").append(boundary).append("\r\n");
            for (Field field : piece.fields) {
                text.append(field.name).append(':').append(field.rest).append("\r\n");
            }
            text.append("\r\n").append(piece.content).append("\r\n");
        }
        text.append("--").append(boundary).append("--").append(tail);
        return new Sample(origin, contentType, text.toString().getBytes(StandardCharsets.ISO_8859_1));
    }

    /** The content type, written as plainly as the boundary allows. */
    void plainContentType() {
        boolean token = boundary.chars().allMatch(Anatomy::isToken);
        contentType = "multipart/form-data; boundary=" + (token ? boundary : '"' + boundary + '"');
    }

    /** Another boundary, in content too: what stands there and looks like a delimiter still does. */
    void plainBoundary() {
        String plain = "----PlainBoundary7d93b1";
        for (Piece piece : pieces) {
            piece.content = piece.content.replace("--" + boundary, "--" + plain);
        }
        boundary = plain;
        plainContentType();
    }

    void dropFields(String name) {
        pieces.forEach(piece -> piece.fields.removeIf(field -> field.is(name)));
    }

    void shortContent() {
        pieces.forEach(piece -> {
            if (piece.content.length() > PLAIN_SIZE) {
                piece.content = piece.content.substring(0, PLAIN_SIZE);
            }
        });
    }

    static boolean isToken(int c) {
        return c > ' ' && c < 0x7F && "()<>@,;:\\\"/[]?={}".indexOf(c) < 0;
    }

    static String lower(String text) {
        return text.toLowerCase(Locale.ROOT);
    }
}

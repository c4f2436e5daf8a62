package dev.sluice.fuzz;

import dev.sluice.testkit.TextTable;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The tokens of multipart bodies, one byte each, so that a few bytes of the fuzzer become a body with parts. */
final class Tokens {
    /** In a token, {@code #} stands for the boundary and {@code ~} for the boundary without its last byte. */
    private static final String[] TOKENS = Objects.requireNonNull(
                    TextTable.sections("fuzz-tokens.txt").get("tokens"))
            .toArray(String[]::new);

    private final String boundary;

    /** Created on first use; empty until then. */
    private final byte[][] tokens = new byte[TOKENS.length][0];

    private Tokens(String boundary) {
        this.boundary = boundary;
    }

    static Tokens of(String boundary) {
        return new Tokens(boundary);
    }

    private byte[] token(int number) {
        int index = number % TOKENS.length;
        byte[] token = tokens[index];
        if (token.length == 0) {
            String shortened = boundary.substring(0, boundary.length() - 1);
            token = Bytes.latin1(TOKENS[index].replace("#", boundary).replace("~", shortened));
            tokens[index] = token;
        }
        return token;
    }

    /** {@return the bytes, with each byte above 0x7F replaced by its token} */
    byte[] expand(byte[] bytes) {
        Bytes out = new Bytes(bytes.length * 4 + 64);
        for (byte b : bytes) {
            if (b < 0) {
                out.add(token(b & 0x7F));
            } else {
                out.add(b);
            }
        }
        return out.toByteArray();
    }

    /** {@return the tokens in the syntax of libFuzzer's dictionaries} */
    static String dictionary() {
        StringBuilder words = new StringBuilder();
        for (String token : TOKENS) {
            words.append('"');
            for (byte b : Bytes.latin1(token.replace("#", "x").replace("~", ""))) {
                boolean plain = b > ' ' && b < 0x7F && b != '"' && b != '\\';
                words.append(plain ? Character.toString(b) : String.format("\\x%02x", b & 0xFF));
            }
            words.append("\"\n");
        }
        return words.toString();
    }

    /**
     * {@return bytes that {@linkplain #expand expand} to {@code body}, or null if a byte of it is neither ASCII nor
     * part of a token}
     */
    byte @Nullable [] shorten(byte[] body) {
        Bytes out = new Bytes(body.length + 1);
        List<Integer> longest = longestFirst();
        for (int at = 0; at < body.length; ) {
            int from = at;
            Optional<Integer> found = longest.stream()
                    .filter(number -> startsWith(body, from, token(number)))
                    .findFirst();
            if (found.isPresent()) {
                out.add(found.get() | 0x80);
                at += token(found.get()).length;
            } else if (body[at] >= 0) {
                out.add(body[at++]);
            } else {
                return null;
            }
        }
        return out.toByteArray();
    }

    private List<Integer> longestFirst() {
        Comparator<Integer> byLength = Comparator.comparingInt(number -> token(number).length);
        return IntStream.range(0, TOKENS.length)
                .boxed()
                .sorted(byLength.reversed())
                .toList();
    }

    private static boolean startsWith(byte[] body, int at, byte[] token) {
        return token.length <= body.length - at && Arrays.equals(body, at, at + token.length, token, 0, token.length);
    }
}

package dev.sluice.testkit;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The expected result of a case: its parts, or a rejection.
 *
 * @param parts the expected parts, in order; empty for a rejection
 * @param reasons the acceptable reasons of a rejection; empty for a valid body
 */
public record Verdict(List<ExpectedPart> parts, Set<String> reasons) {

    /**
     * An expected part. Null means "absent" for the name, the file name and the Content-Type, and "not compared" for the rest.
     *
     * @param name the name of the field
     * @param filename the name of the file
     * @param rawName the bytes of the name, if it is not UTF-8
     * @param rawFilename the bytes of the file name, if it is not UTF-8
     * @param typeIsKnown whether {@code contentType} is compared
     * @param contentType the value of the Content-Type header, or null
     * @param size the size of the body, in bytes
     * @param sha256 the SHA-256 of the body, in hexadecimal
     * @param headers the header fields, each as {@code name: value}
     */
    public record ExpectedPart(
            @Nullable String name,
            @Nullable String filename,
            byte @Nullable [] rawName,
            byte @Nullable [] rawFilename,
            boolean typeIsKnown,
            @Nullable String contentType,
            long size,
            String sha256,
            @Nullable List<String> headers) {}

    /** {@return a verdict that accepts a body with these parts} */
    static Verdict accepted(List<ExpectedPart> parts) {
        return new Verdict(List.copyOf(parts), Set.of());
    }

    /** {@return a verdict that rejects a body for one of these reasons} */
    static Verdict refused(String... reasons) {
        return new Verdict(List.of(), Set.of(reasons));
    }

    public boolean isAccepted() {
        return reasons.isEmpty();
    }

    public String describe() {
        return isAccepted()
                ? parts.size() == 1 ? "1 part" : parts.size() + " parts"
                : String.join(" or ", new TreeSet<>(reasons));
    }

    /**
     * Compares an outcome with this verdict.
     *
     * @param outcome the outcome of the case
     * @param formData whether the rules for form-data apply; only then are names compared
     * @return null if they agree, otherwise the difference
     */
    public @Nullable String mismatch(Outcome outcome, boolean formData) {
        if (outcome.isAccepted() != isAccepted()) {
            return "expected " + describe() + ", was " + outcome.verdict() + " with "
                    + outcome.parts().size() + " parts";
        }
        if (!isAccepted()) {
            return reasons.contains(outcome.verdict()) ? null : "expected " + describe() + ", was " + outcome.verdict();
        }
        if (parts.size() != outcome.parts().size()) {
            return "expected " + describe() + ", was " + outcome.parts().size();
        }
        boolean folded = has(outcome.deviations(), "FOLDED_HEADER") || has(outcome.silent(), "FOLDED_HEADER");
        for (int i = 0; i < parts.size(); i++) {
            String difference = difference(parts.get(i), outcome.parts().get(i), formData, folded);
            if (difference != null) {
                return "part " + i + ": " + difference;
            }
        }
        return null;
    }

    private static boolean has(List<Outcome.Deviation> deviations, String kind) {
        return deviations.stream().anyMatch(deviation -> deviation.kind().equals(kind));
    }

    private static @Nullable String difference(
            ExpectedPart expected, Outcome.Part part, boolean formData, boolean folded) {
        if (expected.size != part.body().length) {
            return "body of " + expected.size + " bytes expected, was " + part.body().length + " bytes";
        }
        if (!expected.sha256.equals(TestForm.sha256(part.body()))) {
            return "body of " + expected.size + " bytes has other content than expected";
        }
        if (formData && !sameText(expected.name, expected.rawName, part.name(), part.rawName())) {
            return "name " + expected.name + " expected, was " + part.name();
        }
        if (formData && !sameText(expected.filename, expected.rawFilename, part.filename(), part.rawFilename())) {
            return "file name " + expected.filename + " expected, was " + part.filename();
        }
        if (expected.typeIsKnown && !sameValue(expected.contentType, part.contentType(), folded)) {
            return "type " + expected.contentType + " expected, was " + part.contentType();
        }
        if (expected.headers == null) {
            return null;
        }
        List<Outcome.Header> headers = part.headers();
        boolean same = expected.headers.size() == headers.size();
        for (int i = 0; same && i < headers.size(); i++) {
            Outcome.Header header = headers.get(i);
            String latin1 = header.name() + ": " + new String(header.rawValue(), StandardCharsets.ISO_8859_1);
            same = sameValue(expected.headers.get(i), header.toString(), folded)
                    || sameValue(expected.headers.get(i), latin1, folded);
        }
        return same ? null : "headers " + expected.headers + " expected, were " + headers;
    }

    private static boolean sameText(
            @Nullable String expected, byte @Nullable [] expectedRaw, @Nullable String text, byte @Nullable [] raw) {
        return expectedRaw == null ? Objects.equals(expected, text) : Arrays.equals(expectedRaw, raw);
    }

    /**
     * Compares two values. The corpus keeps the blanks of a folded header; row 20 of {@code parser/docs/policy.md}
     * replaces them by one space.
     */
    private static boolean sameValue(@Nullable String expected, @Nullable String value, boolean folded) {
        if (expected == null || value == null || !folded) {
            return Objects.equals(expected, value);
        }
        return oneBlank(expected).equals(oneBlank(value));
    }

    private static String oneBlank(String text) {
        return text.replaceAll("[ \t]+", " ");
    }
}

package dev.sluice.fuzz;

import dev.sluice.Boundary;
import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartException;
import dev.sluice.MultipartOptions;
import dev.sluice.PartHead;
import dev.sluice.Preset;
import dev.sluice.ReportedDeviation;
import dev.sluice.testkit.Outcome;
import dev.sluice.testkit.ReferenceParser;
import dev.sluice.testkit.Soup;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Arbitrary values of Content-Type and Content-Disposition. Each must be rejected with a {@link MultipartException} or
 * parsed as the reference parser does. An accepted value must have the same meaning when it is rewritten with quotes.
 */
public final class HeaderTarget {
    private static final List<Preset> PRESETS = List.of(Preset.STANDARD, Preset.STRICT, Preset.COMPATIBLE);
    private static final List<MultipartOptions> OPTIONS = PRESETS.stream()
            .map(preset -> MultipartOptions.builder().preset(preset).build())
            .toList();
    private static final byte[] NOTHING = {};
    private static final int LONGEST_SAFE_NAME = 255;

    private HeaderTarget() {}

    /** Called by the fuzzer: a byte of choices, then the value. */
    public static void fuzzerTestOneInput(byte[] bytes) {
        Input in = new Input(bytes);
        int flags = in.next();
        byte[] rest = in.rest();
        byte[] value = (flags & Setup.TOKENS) != 0 ? Setup.tokens(0).expand(rest) : rest;
        int preset = (flags & 3) % 3;
        if ((flags & 8) == 0) {
            contentType(new String(value, StandardCharsets.ISO_8859_1), PRESETS.get(preset));
        } else {
            disposition(value, OPTIONS.get(preset));
        }
    }

    private static void contentType(String value, Preset preset) {
        Outcome outcome = ReferenceParser.parse(value, NOTHING, preset.toString());
        Outcome.Error error =
                Objects.requireNonNull(outcome.error(), "an empty body was accepted, but it is truncated");
        boolean refused = error.offset() < 0;
        Boundary boundary;
        try {
            boundary = Boundary.anyMultipart(value, preset);
        } catch (MultipartException e) {
            require(
                    refused && error.reason().equals(e.reason().name()),
                    e.reason() + ", not " + error.reason(),
                    preset,
                    value);
            require(e.offset() == -1 && e.partIndex() == -1, "offset " + e.offset(), preset, value);
            return;
        }
        require(!refused, "accepted, expected " + error.reason(), preset, value);
        String quoted = boundary.value();
        require(!quoted.isEmpty() && quoted.length() <= 256, "boundary " + quoted, preset, value);
        List<String> expected =
                outcome.deviations().stream().map(Outcome.Deviation::kind).toList();
        List<String> actual = boundary.deviations().stream()
                .map(ReportedDeviation::kind)
                .map(Enum::name)
                .toList();
        require(expected.equals(actual), actual + ", not " + expected, preset, value);

        // The reference parser does not expose the boundary, but it accepts the body only if the delimiter matches.
        byte[] close = ("--" + quoted + "--").getBytes(StandardCharsets.ISO_8859_1);
        require(
                ReferenceParser.parse(value, close, preset.toString()).isAccepted(),
                "boundary " + quoted + " differs from the reference parser",
                preset,
                value);
        requoted(boundary, preset, value);
    }

    /** Requires that a boundary has the same meaning in quotes, if it is allowed there. */
    private static void requoted(Boundary boundary, Preset preset, String value) {
        String again = boundary.mediaType() + "; boundary=\"" + boundary.value() + "\"";
        try {
            Boundary same = Boundary.anyMultipart(again, preset);
            require(
                    same.value().equals(boundary.value())
                            && same.mediaType().equals(boundary.mediaType())
                            && same.isFormData() == boundary.isFormData(),
                    "different boundary in quotes: " + same,
                    preset,
                    value);
        } catch (MultipartException e) {
            boolean quotable = boundary.value().chars().allMatch(c -> EncodedForm.BCHARS.indexOf(c) >= 0);
            require(!quotable, "rejected in quotes: " + e.getMessage(), preset, value);
        }
    }

    private static void disposition(byte[] bytes, MultipartOptions options) {
        String value = new String(bytes, StandardCharsets.UTF_8);
        byte[] body = body(value);
        Outcome outcome = ReferenceParser.parse(
                "multipart/form-data; boundary=x", body, options.preset().toString());
        Outcome.Part expected =
                outcome.parts().isEmpty() ? outcome.partial() : outcome.parts().get(0);
        PartHead head;
        try {
            head = head(body, options);
        } catch (MultipartException e) {
            Outcome.Error error = outcome.error();
            boolean refused = expected == null
                    && error != null
                    && error.reason().equals(e.reason().name())
                    && error.offset() == e.offset();
            require(refused, "rejected, expected " + error + ": " + e.getMessage(), options.preset(), value);
            return;
        }
        String name = Objects.requireNonNull(head.name());
        String filename = head.filename();
        boolean same =
                expected != null && name.equals(expected.name()) && Objects.equals(filename, expected.filename());
        require(same, "name " + name + ", filename " + filename + ", not " + expected, options.preset(), value);
        rewritten(head, options, value);
        if (filename != null) {
            safe(Objects.requireNonNull(head.safeFilename()), options, value);
        }
    }

    private static byte[] body(String value) {
        return ("--x\r\nContent-Disposition:" + value + "\r\n\r\n\r\n--x--").getBytes(StandardCharsets.UTF_8);
    }

    private static PartHead head(byte[] body, MultipartOptions options) throws MultipartException {
        try (MultipartDecoder decoder = MultipartDecoder.create(Boundary.of("x"), options)) {
            decoder.feed(Unpooled.wrappedBuffer(body));
            decoder.next();
            return decoder.head();
        }
    }

    private static void rewritten(PartHead head, MultipartOptions options, String value) {
        String name = Objects.requireNonNull(head.name());
        String filename = head.filename();
        if (name.chars().anyMatch(HeaderTarget::isControl)
                || filename != null && filename.chars().anyMatch(HeaderTarget::isControl)) {
            return;
        }
        String again = "form-data; name=" + quoted(name) + (filename == null ? "" : "; filename=" + quoted(filename));
        try {
            PartHead same = head(body(again), options);
            require(
                    name.equals(same.name())
                            && Objects.equals(filename, same.filename())
                            && Objects.equals(head.safeFilename(), same.safeFilename()),
                    "different meaning when rewritten: " + again,
                    options.preset(),
                    value);
        } catch (MultipartException e) {
            require(false, "rejected when rewritten: " + again + ": " + e.getMessage(), options.preset(), value);
        }
    }

    /** Returns whether a character is a control character. A decoded name can contain one if it was percent-encoded. */
    private static boolean isControl(int c) {
        return c < ' ' && c != '\t' || c == 0x7F;
    }

    private static String quoted(String text) {
        return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
    }

    private static void safe(String safe, MultipartOptions options, String value) {
        boolean small = safe.getBytes(StandardCharsets.UTF_8).length <= LONGEST_SAFE_NAME;
        boolean plain = safe.chars().noneMatch(c -> isControl(c) || "/\\:*?\"<>|$`';&%!".indexOf(c) >= 0);
        require(small && plain, "unsafe: " + safe, options.preset(), value);
        require(!safe.equals(".") && !safe.equals(".."), "unsafe: " + safe, options.preset(), value);
        try {
            String field = "form-data; name=a; filename=" + quoted(safe);
            String safer = head(body(field), options).safeFilename();
            require(
                    safe.equals(safer),
                    "changed when sanitized again: " + safe + ", " + safer,
                    options.preset(),
                    value);
        } catch (MultipartException e) {
            throw new AssertionError("rejected: " + safe, e);
        }
    }

    private static void require(boolean holds, @Nullable String what, Preset preset, String value) {
        if (!holds) {
            throw new AssertionError(
                    what + " (" + preset + ", value \"" + Soup.escape(value.getBytes(StandardCharsets.UTF_8)) + "\")");
        }
    }
}

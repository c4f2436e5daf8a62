package dev.sluice.testkit;

import static dev.sluice.testkit.Bytes.CR;
import static dev.sluice.testkit.Bytes.LF;

import dev.sluice.testkit.DeviationLog.Failure;
import dev.sluice.testkit.ReferenceDelimiters.DashBoundary;
import java.math.BigInteger;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A second, independent implementation of {@code parser/docs/policy.md}, written for readability. It has the whole body
 * in memory. The decoder must have the same result, however the body is split.
 *
 * <p>Bytes beyond a limit are never read. If a limit is exceeded at the same byte as another error, the limit takes
 * precedence. The limit of the body takes precedence over limits of the header section.
 */
public final class ReferenceParser {
    private static final int MAX_PADDING = 256;
    /** A parameter, up to a semicolon outside of quotes. Within quotes, a backslash escapes the next character. */
    private static final Pattern PARAMETER =
            Pattern.compile("((?:[^\";]++|\"(?:[^\"\\\\]++|\\\\.)*+(?:\"|\\\\?$))*+)(?:;|$)", Pattern.DOTALL);

    private static final Pattern CHARSET = Pattern.compile("(?isu)\\s*charset(=|\\*|\\s+=)(.*)");
    /** Parameters that Netty takes for a charset, a name or a file name, and a file name that Rack finds even in quotes. */
    private static final Pattern OTHER_CHARSET = Pattern.compile("(?isu)charset[^=]*=.*");

    private static final Pattern PLAIN_CHARSET = Pattern.compile("(?isu)charset=.*");
    private static final Pattern NAME =
            Pattern.compile("(?isu)((file)?name|content-(type|length|transfer-encoding))=.*");
    private static final Pattern OTHER_TYPE = Pattern.compile("(?isu)(?!charset)[^=]+");
    private static final Pattern FILENAME = Pattern.compile("(?isu).*;[ \\t]*filename\\*?=.*");

    private final byte[] body;
    /** The number of bytes that are read: the body up to its limit. */
    private final int size;

    private final boolean formData;
    private final byte[] dashBoundary;
    private final boolean lfMode;
    private final ReferenceDelimiters delimiters;
    private final PresetRules rules;
    private final ReferenceLimits limits;
    private final DeviationLog log;
    private final List<Outcome.Part> parts = new ArrayList<>(2);
    private Outcome.@Nullable Part partial;
    private int index = -1;
    private long files;
    private long headerBytes;

    private ReferenceParser(
            byte[] body,
            ReferenceContentType.Parsed type,
            PresetRules rules,
            ReferenceLimits limits,
            DeviationLog log) {
        this.body = body;
        this.size = (int) Math.min(body.length, limits.maxBodyBytes());
        this.formData = type.formData();
        this.dashBoundary = type.dashBoundary();
        this.lfMode = rules.accepts("BARE_LF");
        this.delimiters = new ReferenceDelimiters(body, size, dashBoundary, lfMode);
        this.rules = rules;
        this.limits = limits;
        this.log = log;
    }

    /** Parses a body with the default limits and the rules of a preset, such as {@code STANDARD}. */
    public static Outcome parse(@Nullable String contentType, byte[] body, String preset) {
        return parse(contentType, body, PresetRules.of(preset), ReferenceLimits.DEFAULTS);
    }

    /** Parses a body with the rules of a preset, such as {@code STANDARD}. */
    public static Outcome parse(@Nullable String contentType, byte[] body, String preset, ReferenceLimits limits) {
        return parse(contentType, body, PresetRules.of(preset), limits);
    }

    /** @param contentType the value of the header field of the request, or null */
    public static Outcome parse(@Nullable String contentType, byte[] body, PresetRules rules, ReferenceLimits limits) {
        DeviationLog log = new DeviationLog(rules);
        ReferenceParser parser = null;
        Outcome.Error error = null;
        try {
            parser = new ReferenceParser(body, ReferenceContentType.parse(contentType, log), rules, limits, log);
            parser.run();
        } catch (Failure failure) {
            error = failure.error();
        }
        return new Outcome(
                rules.name(),
                parser == null ? List.of() : List.copyOf(parser.parts),
                parser == null ? null : parser.partial,
                log.reported(),
                log.silent(),
                body.length,
                error);
    }

    private void run() {
        int at = preamble();
        while (index >= 0) {
            at = part(at);
        }
        epilogue(at);
    }

    /** {@return the start of the first part or, if {@code index} is -1 afterwards, of the epilogue} */
    private int preamble() {
        int from = 0;
        for (; ; ) {
            DashBoundary found = delimiters.find(0, from);
            int text = found == null ? delimiters.undecided(0, from) : found.start();
            lookalike(delimiters.lookalike(0, from, Math.min(text, limits.maxPreambleBytes())));
            if (text > limits.maxPreambleBytes()) {
                if (!rules.accepts("PREAMBLE")) {
                    throw new Failure("PREAMBLE", preambleShows(), -1);
                }
                throw new Failure("PREAMBLE_TOO_LARGE", limits.maxPreambleBytes(), -1);
            }
            if (found == null) {
                throw bodyEnds();
            }
            Line line = lineAfter(found.end());
            if (line.kind == LineKind.BROKEN) {
                log.met("FALSE_DELIMITER", "MALFORMED_DELIMITER", index, line.at);
                from = line.at;
                continue;
            }
            if (line.kind == LineKind.CLOSE && found.start() > 0) {
                log.met("CLOSE_DELIMITER_AFTER_PREAMBLE", "MALFORMED_DELIMITER", index, line.at - 1);
            }
            if (found.start() > 0) {
                log.met("PREAMBLE", "PREAMBLE", -1, preambleShows());
            }
            bareLf(found.bareLf());
            if (line.kind == LineKind.PART) {
                padding(found.end(), paddingEnd(found.end()));
                index = 0;
            }
            Line end = line.kind == LineKind.CLOSE ? closeLine(line.at) : line;
            bareLf(end.bareLf);
            checkPartCount(end.at);
            return end.at;
        }
    }

    /** {@return the offset of the first byte that differs from an optional line end and the dash-boundary} */
    private int preambleShows() {
        int at = 0;
        if (body[0] == CR) {
            if (body.length == 1 || body[1] != LF) {
                return 1;
            }
            at = 2;
        } else if (lfMode && body[0] == LF) {
            at = 1;
        }
        for (byte expected : dashBoundary) {
            if (body[at] != expected) {
                return at;
            }
            at++;
        }
        return lineAfter(at).at;
    }

    private void checkPartCount(int afterLine) {
        if (index >= limits.maxParts()) {
            throw new Failure("TOO_MANY_PARTS", afterLine - 1L, index);
        }
    }

    /** {@return the start of the next part or, if {@code index} is -1 afterwards, of the epilogue} */
    private int part(int start) {
        HeaderSection section = new HeaderSection(start);
        section.read();
        headerBytes += section.end - start;
        Outcome.Part empty = section.checkedPart();
        int bodyStart = section.end;
        partial = empty;
        int from = bodyStart;
        for (; ; ) {
            DashBoundary found = delimiters.find(bodyStart, from);
            int dataEnd = found == null ? delimiters.undecided(bodyStart, from) : found.start();
            int lookalike = delimiters.lookalike(bodyStart, from, (int)
                    Math.min(dataEnd, bodyStart + Math.min(limits.maxPartBytes(), size)));
            if (lookalike >= 0) {
                partial = withBody(empty, lookalike);
                lookalike(lookalike);
            }
            if (dataEnd - bodyStart > limits.maxPartBytes()) {
                int limit = bodyStart + (int) limits.maxPartBytes();
                partial = withBody(empty, limit);
                throw new Failure("PART_TOO_LARGE", limit, index);
            }
            partial = withBody(empty, dataEnd);
            if (found == null) {
                throw bodyEnds();
            }
            Line line = lineAfter(found.end());
            if (line.kind == LineKind.BROKEN) {
                log.met("FALSE_DELIMITER", "MALFORMED_DELIMITER", index, line.at);
                from = line.at;
                continue;
            }
            bareLf(found.bareLf());
            if (line.kind == LineKind.PART) {
                padding(found.end(), paddingEnd(found.end()));
            }
            if (found.start() == bodyStart && found.end() - bodyStart == dashBoundary.length) {
                log.met("SHARED_LINE_END", "MALFORMED_DELIMITER", index, line.at - 1L);
            }
            if (section.announced >= 0 && section.announced != dataEnd - bodyStart) {
                log.met("PART_CONTENT_LENGTH", "MALFORMED_HEADER", index, line.at - 1L);
            }
            parts.add(partial);
            partial = null;
            index = line.kind == LineKind.CLOSE ? -1 : index + 1;
            Line end = line.kind == LineKind.CLOSE ? closeLine(line.at) : line;
            bareLf(end.bareLf);
            checkPartCount(end.at);
            return end.at;
        }
    }

    private Outcome.Part withBody(Outcome.Part part, int end) {
        return new Outcome.Part(
                part.index(),
                part.headers(),
                part.name(),
                part.filename(),
                part.rawName(),
                part.rawFilename(),
                part.contentType(),
                part.bodyOffset(),
                Arrays.copyOfRange(body, part.bodyOffset(), end));
    }

    private void epilogue(int start) {
        if (start < size) {
            log.met("EPILOGUE", "EPILOGUE", -1, start);
        }
        if (size - start > limits.maxEpilogueBytes()) {
            throw new Failure("EPILOGUE_TOO_LARGE", (long) start + limits.maxEpilogueBytes(), -1);
        }
        if (size < body.length) {
            throw bodyEnds();
        }
    }

    /** {@return the failure at the end of the bytes that are read: the body is too short, or longer than its limit} */
    private Failure bodyEnds() {
        return new Failure(size < body.length ? "BODY_TOO_LARGE" : "TRUNCATED", size, index);
    }

    private void lookalike(int last) {
        if (last >= 0) {
            log.met("LOOKALIKE_DELIMITER", "MALFORMED_DELIMITER", index, last);
        }
    }

    private void bareLf(int offset) {
        if (offset >= 0) {
            log.met("BARE_LF", "MALFORMED_DELIMITER", index, offset);
        }
    }

    private enum LineKind {
        /** A delimiter. */
        PART,
        /** A close-delimiter. */
        CLOSE,
        /** Neither. */
        BROKEN
    }

    /**
     * The rest of the line after a dash-boundary.
     *
     * @param at the byte after the line or after the second dash, or the first byte that does not fit
     * @param bareLf the offset of an LF without CR; -1 otherwise
     */
    private record Line(LineKind kind, int at, int bareLf) {}

    private Line lineAfter(int start) {
        if (b(start) == '-') {
            return b(start + 1) == '-'
                    ? new Line(LineKind.CLOSE, start + 2, -1)
                    : new Line(LineKind.BROKEN, start + 1, -1);
        }
        int i = start;
        while (Bytes.isBlank(b(i)) && i - start < MAX_PADDING) {
            refusePadding(i);
            i++;
        }
        if (b(i) == CR) {
            return b(i + 1) == LF ? new Line(LineKind.PART, i + 2, -1) : new Line(LineKind.BROKEN, i + 1, -1);
        }
        return lfMode && b(i) == LF ? new Line(LineKind.PART, i + 1, i) : new Line(LineKind.BROKEN, i, -1);
    }

    /** {@return the end of the line of the close-delimiter, which may be the end of the body} */
    private Line closeLine(int start) {
        boolean whole = size == body.length;
        int i = start;
        while (i < size && Bytes.isBlank(body[i]) && i - start < MAX_PADDING) {
            refusePadding(i);
            i++;
        }
        if (i == size && whole) {
            padding(start, i);
            return new Line(LineKind.CLOSE, i, -1);
        }
        if (b(i) == CR) {
            if (!(i + 1 == size && whole) && b(i + 1) == LF) {
                padding(start, i);
                return new Line(LineKind.CLOSE, i + 2, -1);
            }
            i++;
        } else if (lfMode && b(i) == LF) {
            padding(start, i);
            return new Line(LineKind.CLOSE, i + 1, i);
        }
        log.met("TEXT_AFTER_CLOSE_DELIMITER", "MALFORMED_DELIMITER", index, i);
        return new Line(LineKind.CLOSE, i, -1);
    }

    private int paddingEnd(int start) {
        int i = start;
        while (Bytes.isBlank(body[i])) {
            i++;
        }
        return i;
    }

    private void refusePadding(int at) {
        if (!rules.accepts("TRANSPORT_PADDING")) {
            throw new Failure("MALFORMED_DELIMITER", at, index);
        }
    }

    /** Reports the padding of a valid line. */
    private void padding(int start, int end) {
        if (start < end) {
            log.met("TRANSPORT_PADDING", "MALFORMED_DELIMITER", index, start);
        }
    }

    private int b(int at) {
        if (at >= size) {
            throw bodyEnds();
        }
        return body[at] & 0xFF;
    }

    /** Reads the header section of the part {@code index}. */
    private final class HeaderSection {
        private final int start;
        private final List<ReferenceField> fields = new ArrayList<>(4);
        private int blankLine;
        private int end;
        /** The Content-Length of the part, or -1. */
        private long announced = -1;

        HeaderSection(int start) {
            this.start = start;
        }

        /** For each byte, checks the limits, then the number of fields, then the grammar. */
        void read() {
            int i = start;
            for (; ; ) {
                int c = header(i);
                if (c == CR || c == LF) {
                    blankLine = i;
                    end = afterLineEnd(i);
                    return;
                }
                if (!Bytes.isBlank(c)) {
                    i = field(i);
                } else if (fields.isEmpty()) {
                    throw malformed(i);
                } else {
                    log.met("FOLDED_HEADER", "MALFORMED_HEADER", index, i);
                    i = continuation(i);
                }
            }
        }

        private int field(int nameStart) {
            if (fields.size() == limits.maxHeadersPerPart()) {
                throw new Failure("TOO_MANY_HEADERS", nameStart, index);
            }
            int same = 0;
            while (same < dashBoundary.length && header(nameStart + same) == dashBoundary[same]) {
                same++;
            }
            if (same == dashBoundary.length) {
                log.met("DELIMITER_IN_HEADER", "MALFORMED_DELIMITER", index, nameStart + same - 1L);
            }
            int i = nameStart;
            while (Bytes.isToken(header(i))) {
                i++;
            }
            if (i == nameStart || header(i) != ':') {
                throw malformed(i);
            }
            ReferenceField field = new ReferenceField(body, nameStart, i);
            int lineEnd = lineEnd(i + 1, field);
            field.addLine(i + 1, lineEnd);
            fields.add(field);
            return afterLineEnd(lineEnd);
        }

        private int continuation(int lineStart) {
            int i = lineStart;
            while (Bytes.isBlank(header(i))) {
                i++;
            }
            if (header(i) == CR || header(i) == LF) {
                throw malformed(i);
            }
            int lineEnd = lineEnd(i, fields.get(fields.size() - 1));
            fields.get(fields.size() - 1).addLine(lineStart, lineEnd);
            return afterLineEnd(lineEnd);
        }

        /**
         * {@return the end of the line} Control characters in a Content-Disposition, other than NUL, are checked later.
         */
        private int lineEnd(int from, ReferenceField field) {
            boolean controls = formData && field.isNamed("Content-Disposition");
            int i = from;
            while (header(i) != CR && header(i) != LF) {
                if (Bytes.isControl(header(i)) && !(controls && header(i) != 0)) {
                    throw malformed(i);
                }
                i++;
            }
            return i;
        }

        private int afterLineEnd(int at) {
            if (header(at) == CR) {
                if (header(at + 1) != LF) {
                    throw malformed(at);
                }
                return at + 2;
            }
            log.met("BARE_LF_IN_HEADER", "MALFORMED_HEADER", index, at);
            return at + 1;
        }

        private int header(int at) {
            int c = b(at);
            if (at - start >= limits.maxHeaderBytesPerPart()) {
                throw new Failure("HEADER_SECTION_TOO_LARGE", at, index);
            }
            if (headerBytes + (at - start) >= limits.maxHeaderBytes()) {
                throw new Failure("HEADERS_TOO_LARGE", at, index);
            }
            return c;
        }

        private Failure malformed(int at) {
            return new Failure("MALFORMED_HEADER", at, index);
        }

        /** Checks the complete section in the order of {@code parser/docs/decisions/0001-error-offsets.md}. */
        Outcome.Part checkedPart() {
            checkDuplicates();
            for (ReferenceField field : fields) {
                int at = field.firstUndecodable();
                if (at >= 0) {
                    log.met("UNDECODABLE_HEADER", "MALFORMED_HEADER", index, at);
                }
            }
            checkTransferEncoding();
            checkContentLength();
            ReferenceDisposition disposition = null;
            ReferenceField type = first("Content-Type");
            if (formData) {
                ReferenceField field = first("Content-Disposition");
                if (field == null) {
                    throw new Failure("MISSING_CONTENT_DISPOSITION", blankLine, index);
                }
                disposition = new ReferenceDisposition(field, index, true, rules, log);
                disposition.parse();
                if (type != null && type.text().regionMatches(true, 0, "multipart/", 0, 10)) {
                    log.met("NESTED_MULTIPART", "UNSUPPORTED_MEDIA_TYPE", index, type.offset(0));
                }
                if (type != null) {
                    checkParameters(type, disposition.filename() != null);
                }
                if (disposition.filename() != null && ++files > limits.maxFiles()) {
                    throw new Failure("TOO_MANY_FILES", field.offset(0), index);
                }
            } else {
                disposition = readable(first("Content-Disposition"));
            }
            return new Outcome.Part(
                    index,
                    fields.stream().map(ReferenceField::header).toList(),
                    disposition == null ? null : disposition.name(),
                    disposition == null ? null : disposition.filename(),
                    disposition == null ? null : disposition.rawName(),
                    disposition == null ? null : disposition.rawFilename(),
                    type == null ? null : type.text(),
                    end,
                    new byte[0]);
        }

        /** Outside of form-data, a Content-Disposition may be missing or malformed, and nothing is reported. */
        private @Nullable ReferenceDisposition readable(@Nullable ReferenceField field) {
            if (field == null) {
                return null;
            }
            ReferenceDisposition disposition =
                    new ReferenceDisposition(field, index, false, rules, new DeviationLog(rules));
            try {
                disposition.parse();
                return disposition;
            } catch (Failure unreadable) {
                return null;
            }
        }

        private void checkDuplicates() {
            for (ReferenceField field : fields) {
                if (field != first(field.name())
                        && (field.isNamed("Content-Disposition")
                                || field.isNamed("Content-Type")
                                || field.isNamed("Content-Transfer-Encoding"))) {
                    throw new Failure("DUPLICATE_HEADER", field.nameOffset(), index);
                }
            }
        }

        private void checkTransferEncoding() {
            ReferenceField field = first("Content-Transfer-Encoding");
            if (field == null) {
                return;
            }
            String encoding = field.text();
            if (!encoding.equalsIgnoreCase("7bit")
                    && !encoding.equalsIgnoreCase("8bit")
                    && !encoding.equalsIgnoreCase("binary")) {
                log.met("TRANSFER_ENCODING", "UNSUPPORTED_TRANSFER_ENCODING", index, field.offset(0));
            }
        }

        private void checkContentLength() {
            ReferenceField first = first("Content-Length");
            for (ReferenceField field : fields) {
                if (field.isNamed("Content-Length")) {
                    boolean number = field.text().matches("[0-9]+");
                    if (!number || field != first) {
                        announced = -1;
                        log.met("PART_CONTENT_LENGTH", "MALFORMED_HEADER", index, field.offset(0));
                    } else {
                        announced = new BigInteger(field.text())
                                .min(BigInteger.valueOf(Long.MAX_VALUE))
                                .longValue();
                    }
                }
            }
        }

        /** Checks the parameters of a part's Content-Type (rows 45a and 45b). */
        private void checkParameters(ReferenceField type, boolean file) {
            List<String> charsets = new ArrayList<>();
            boolean odd = false;
            String text = type.text();
            int parameters = text.indexOf(';') + 1; // the first semicolon, because a media type has no quotes
            Matcher parameter = PARAMETER.matcher(parameters == 0 ? "" : text.substring(parameters));
            while (parameter.find()) {
                Matcher charset = CHARSET.matcher(parameter.group(1));
                if (charset.lookingAt()) {
                    odd |= !charset.group(1).equals("=");
                    if (charset.group(1).equals("=")) {
                        charsets.add(charset.group(2).stripTrailing());
                    }
                }
            }
            List<String> pieces = pieces(text);
            List<String> found = pieces.stream()
                    .filter(piece -> OTHER_CHARSET.matcher(piece).matches())
                    .toList();
            odd |= found.size() != charsets.size();
            odd |= !found.stream()
                    .allMatch(piece -> PLAIN_CHARSET.matcher(piece).matches());
            if (FILENAME.matcher(text).matches()
                    || pieces.stream().anyMatch(piece -> NAME.matcher(piece).matches())
                    || text.contains(";")
                            && pieces.stream()
                                    .skip(1)
                                    .anyMatch(piece -> OTHER_TYPE.matcher(piece).matches())) {
                log.met("LOOKALIKE_TYPE_PARAMETER", "MALFORMED_HEADER", index, type.offset(0));
            }
            if (odd || charsets.size() > 1) {
                log.met("AMBIGUOUS_CHARSET", "MALFORMED_HEADER", index, type.offset(0));
            }
            if (!charsets.isEmpty()) {
                String name = charsets.get(0);
                boolean quoted = name.length() > 1 && name.startsWith("\"") && name.endsWith("\"");
                checkCharset(quoted ? name.substring(1, name.length() - 1) : name, type.offset(0), file);
            }
        }

        /** {@return the parts of a Content-Type between semicolons outside of quotes, or between commas if it has no semicolon} */
        private static List<String> pieces(String type) {
            if (!type.contains(";")) {
                return Stream.of(type.split(",")).map(String::strip).toList();
            }
            return PARAMETER
                    .matcher(type)
                    .results()
                    .map(match -> match.group(1).strip())
                    .toList();
        }

        private void checkCharset(String name, int offset, boolean file) {
            try {
                if (!keepsAscii(Charset.forName(name))) {
                    log.met("CHARSET_WITHOUT_ASCII", "UNKNOWN_CHARSET", index, offset);
                }
            } catch (IllegalArgumentException unknown) {
                if (!file) {
                    log.met("UNKNOWN_CHARSET", "UNKNOWN_CHARSET", index, offset);
                }
            }
        }

        private boolean keepsAscii(Charset charset) {
            for (byte b = ' '; b < 0x7F; b++) {
                byte[] two = {b, b}; // one character in UTF-16
                String text = new String(two, charset);
                if (!text.equals("" + (char) b + (char) b)) {
                    return false;
                }
            }
            return true;
        }

        private @Nullable ReferenceField first(String name) {
            for (ReferenceField field : fields) {
                if (field.isNamed(name)) {
                    return field;
                }
            }
            return null;
        }
    }
}

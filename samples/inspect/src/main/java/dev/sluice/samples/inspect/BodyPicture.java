package dev.sluice.samples.inspect;

import dev.sluice.Boundary;
import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartException;
import dev.sluice.ReportedDeviation;
import dev.sluice.samples.report.Digest;
import dev.sluice.samples.report.ErrorResponse;
import dev.sluice.samples.report.InspectionReport;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Help.Ansi.Style;

/**
 * A readable rendering of a multipart body, printed while the body is decoded: offsets, delimiters, header sections, sizes
 * and digests, and a hex dump around an error.
 */
final class BodyPicture {
    private static final int PREVIEW_BYTES = 48;
    private static final int DUMP_WIDTH = 16;
    private static final int DUMP_AROUND = 2 * DUMP_WIDTH;
    private static final String NESTED = "multipart/mixed";
    private static final String INDENT = " ".repeat(12);

    /** Invisible characters: controls, format characters, line separators, and unassigned code points. */
    private static final Pattern INVISIBLE = Pattern.compile("[\\p{C}\\p{Zl}\\p{Zp}]");

    private static final Style[] ERROR = {Style.bold, Style.fg_red};

    private final PrintWriter out;
    private final Ansi ansi;
    private final int lookBack;
    private final List<InspectionReport.Part> parts = new ArrayList<>();
    private String delimiter = "--";

    /** The last bytes read, up to the offset {@link #end}. */
    private final ByteBuf recent = Unpooled.buffer();

    private long end;

    // State of the current part.
    private final ByteBuf preview = Unpooled.buffer(PREVIEW_BYTES, PREVIEW_BYTES);
    private final Digest digest = new Digest();
    private String description = "";
    private long partOffset = -1;

    /** @param lookBack the number of recent bytes to keep: the size of a chunk, plus more than a header section or an epilogue */
    BodyPicture(PrintWriter out, Ansi ansi, int lookBack) {
        this.out = out;
        this.ansi = ansi;
        this.lookBack = lookBack;
    }

    /** Adds bytes that are about to be decoded. */
    void read(byte[] bytes) {
        recent.writeBytes(bytes);
        recent.skipBytes(Math.max(0, recent.readableBytes() - lookBack)).discardSomeReadBytes();
        end += bytes.length;
    }

    /** {@return the byte at an offset as 0-255, or -1 if it is not among the recent bytes} */
    private int at(long offset) {
        return offset < start() || offset >= end
                ? -1
                : recent.getUnsignedByte((int) (offset - end) + recent.writerIndex());
    }

    private long start() {
        return end - recent.readableBytes();
    }

    void begin(Boundary boundary) {
        delimiter += boundary.value();
        out.println(in("boundary ", Style.faint)
                + in(visible(boundary.value()), Style.bold)
                + in(", " + boundary.mediaType(), Style.faint));
        out.println();
    }

    /** Prints the decoder's events until it needs more input. */
    void addAll(MultipartDecoder decoder) throws MultipartException {
        for (; ; ) {
            switch (decoder.next()) {
                case PART_BEGIN -> beginPart(decoder);
                case DATA -> {
                    ByteBuf data = decoder.data();
                    int shown = Math.min(preview.writableBytes(), data.readableBytes());
                    preview.writeBytes(data, data.readerIndex(), shown);
                    digest.add(data);
                }
                case PART_END -> endPart(decoder);
                case NEED_INPUT, END -> {
                    return;
                }
            }
        }
    }

    private void beginPart(MultipartDecoder decoder) {
        byte[] headers = ByteBufUtil.getBytes(decoder.rawHeaders());
        String filename = decoder.filename();
        String safe = decoder.head().safeFilename();
        description = "  (part " + decoder.partIndex() + ": "
                + (filename == null
                        ? "field"
                        : filename.isEmpty() ? "file without a name" : "file " + visible(filename))
                + (filename == null || filename.equals(safe) ? ")" : ", safe name " + safeName(safe) + ")");
        partOffset = decoder.partOffset();
        preview.clear();
        digest.reset();
        long at = partOffset - headers.length;
        line(delimiterBefore(at), in(visible(delimiter), Style.fg_yellow));
        for (String raw : new String(headers, StandardCharsets.ISO_8859_1).split("(?<=\n)")) {
            String text = new String(raw.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8).stripTrailing();
            int colon = Math.max(text.indexOf(':'), 0);
            if (!text.isEmpty()) {
                line(at, in(visible(text.substring(0, colon)), Style.fg_cyan) + visible(text.substring(colon)));
            }
            at += raw.length();
        }
    }

    /** {@return the offset of the delimiter that precedes a header section; padding and a line end may follow the delimiter} */
    private long delimiterBefore(long headerOffset) {
        long at = headerOffset - 1;
        if (at(at - 1) == '\r') {
            at--;
        }
        while (at(at - 1) == ' ' || at(at - 1) == '\t') {
            at--;
        }
        return at - delimiter.length();
    }

    private void endPart(MultipartDecoder decoder) {
        printBody("");
        String sha256 = digest.hex();
        out.println(INDENT + in("sha256 ", Style.faint) + sha256);
        String type = decoder.head().contentType();
        if (type != null && type.regionMatches(true, 0, NESTED, 0, NESTED.length())) {
            out.println(INDENT
                    + "nested body, not decoded: with the preset compatible, a form contains the nested parts instead");
        }
        description = "";
        parts.add(InspectionReport.Part.of(decoder.head(), digest.size(), sha256));
    }

    private void printBody(String remark) {
        long size = digest.size();
        line(partOffset, in(count(size, "byte") + remark, Style.bold) + in(description, Style.faint));
        byte[] bytes = ByteBufUtil.getBytes(preview);
        String text = '"' + visible(new String(bytes, StandardCharsets.UTF_8)) + '"';
        int shown = bytes.length;
        for (byte b : bytes) {
            if (b >= 0 && b < ' ' && b != '\t' && b != '\r' && b != '\n') {
                shown = Math.min(DUMP_WIDTH, bytes.length);
                text = ByteBufUtil.hexDump(bytes, 0, shown);
            }
        }
        if (size > 0) {
            out.println(INDENT + text + (size > shown ? " ..." : ""));
        }
    }

    /** {@return a report of the complete parts} Prints the end or an error. */
    InspectionReport end(List<ReportedDeviation> deviations, long bodySize, @Nullable ErrorResponse error) {
        InspectionReport report = new InspectionReport(
                List.copyOf(parts), InspectionReport.Deviation.of(deviations), Math.max(0, bodySize), error);
        if (!description.isEmpty()) {
            printBody(", cut short");
        }
        if (error == null) {
            line(closeDelimiter(), in(visible(delimiter) + "--", Style.fg_yellow));
            line(bodySize, in("end", Style.faint));
        }
        out.println();
        for (InspectionReport.Deviation deviation : report.deviations()) {
            String place = place(deviation.offset(), deviation.part());
            out.println(in("deviation ", Style.fg_magenta) + deviation.kind() + in(place, Style.faint));
        }
        if (error == null) {
            String counts = count(parts.size(), "part") + ", " + count(bodySize, "byte");
            out.println(in("good      ", Style.fg_green) + counts);
        } else {
            printError(error);
        }
        return report;
    }

    private long closeDelimiter() {
        if (partOffset < 0) {
            byte[] close = (delimiter + "--").getBytes(StandardCharsets.ISO_8859_1);
            return start() - recent.readerIndex() + ByteBufUtil.indexOf(Unpooled.wrappedBuffer(close), recent);
        }
        long at = partOffset + digest.size();
        return switch (at(at)) {
            case '\r' -> at + 2;
            case '\n' -> at + 1;
            // The part is empty, and the delimiter follows the blank line directly.
            default -> at;
        };
    }

    private void printError(ErrorResponse error) {
        out.println(in("error     ", ERROR)
                + in(error.reason(), Style.bold)
                + in(
                        (error.kind().equals(error.reason()) ? "" : " (" + error.kind() + ")")
                                + place(error.offset(), error.part()),
                        Style.faint));
        out.println("          " + visible(error.message()));
        if (error.offset() < start() || end == 0) {
            return;
        }
        out.println();
        long marked = error.offset() / DUMP_WIDTH * DUMP_WIDTH;
        for (long line = marked - DUMP_AROUND; line <= marked + DUMP_AROUND; line += DUMP_WIDTH) {
            if (line + DUMP_WIDTH > start() && line >= 0 && (line < end || line == marked)) {
                dumpLine(line, error.offset());
            }
        }
    }

    private void dumpLine(long from, long marked) {
        StringBuilder hex = new StringBuilder();
        StringBuilder text = new StringBuilder();
        for (long offset = from; offset < from + DUMP_WIDTH; offset++) {
            int b = at(offset);
            Style[] style = offset == marked ? ERROR : new Style[0];
            hex.append(offset - from == DUMP_WIDTH / 2 ? "  " : " ")
                    .append(in(b < 0 ? "  " : String.format("%02x", b), style));
            text.append(in(b < 0 ? " " : b < ' ' || b > '~' ? "." : Character.toString(b), style));
        }
        line(from, hex + "   " + text);
        int column = (int) (marked - from);
        if (column >= 0 && column < DUMP_WIDTH) {
            out.println(INDENT + " ".repeat(1 + 3 * column + (column >= DUMP_WIDTH / 2 ? 1 : 0)) + in("^^", ERROR));
        }
    }

    private void line(long offset, String text) {
        out.println(in(String.format(Locale.ROOT, "%10d  ", offset), Style.faint) + text);
    }

    private String in(String text, Style... styles) {
        return ansi.enabled() && styles.length > 0 ? Style.on(styles) + text + Style.reset.on() : text;
    }

    private static String safeName(@Nullable String safe) {
        return safe == null || safe.isEmpty() ? "none" : visible(safe);
    }

    private static String place(long offset, int part) {
        return offset < 0 ? " in the Content-Type" : " at offset " + offset + (part < 0 ? "" : ", part " + part);
    }

    private static String count(long number, String thing) {
        return String.format(Locale.ROOT, "%,d %s%s", number, thing, number == 1 ? "" : "s");
    }

    /** {@return {@code text} with everything escaped that a terminal could interpret} */
    private static String visible(String text) {
        String escaped = text.replace("\r", "\\r").replace("\n", "\\n").replace("\t", "\\t");
        return INVISIBLE
                .matcher(escaped)
                .replaceAll(one -> String.format("\\\\u{%x}", one.group().codePointAt(0)));
    }
}

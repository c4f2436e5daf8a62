package dev.sluice.samples.upload;

import dev.sluice.Boundary;
import dev.sluice.samples.report.ErrorAnswer;
import dev.sluice.samples.report.InspectionReport;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Draws a multipart body for a person: offsets, delimiters, header sections, sizes and digests, and what is around an
 * error. It is told the parts while they are decoded, and prints when all is known.
 */
final class BodyPicture {
    private static final int PREVIEW_BYTES = 48;
    private static final int DUMP_WIDTH = 16;
    private static final int DUMP_LINES_AROUND = 2;
    private static final String INDENT = " ".repeat(12);

    private final Boundary boundary;
    private final RecentBytes recent;
    private final List<Shape> shapes = new ArrayList<>();

    /** What a part looked like. */
    private static final class Shape {
        final PartHead head;
        final long delimiterOffset;
        final long headerOffset;
        final byte[] rawHeaders;
        final ByteBuf preview = Unpooled.buffer(PREVIEW_BYTES);
        long size;
        boolean complete;

        Shape(PartHead head, long delimiterOffset, long headerOffset, byte[] rawHeaders) {
            this.head = head;
            this.delimiterOffset = delimiterOffset;
            this.headerOffset = headerOffset;
            this.rawHeaders = rawHeaders;
        }
    }

    BodyPicture(Boundary boundary, RecentBytes recent) {
        this.boundary = boundary;
        this.recent = recent;
    }

    // ---- told while decoding

    void begin(PartHead head, ByteBuf rawHeaders) {
        long headerOffset = head.offset() - rawHeaders.readableBytes();
        shapes.add(new Shape(head, delimiterBefore(headerOffset), headerOffset, ByteBufUtil.getBytes(rawHeaders)));
    }

    /** Back over the line end and the transport padding of the delimiter's line. */
    private long delimiterBefore(long headerOffset) {
        long at = headerOffset - 1;
        if (recent.at(at - 1) == '\r') {
            at--;
        }
        while (recent.at(at - 1) == ' ' || recent.at(at - 1) == '\t') {
            at--;
        }
        return at - boundary.value().length() - 2;
    }

    void data(ByteBuf data) {
        Shape shape = shapes.get(shapes.size() - 1);
        int missing = Math.min(PREVIEW_BYTES - shape.preview.readableBytes(), data.readableBytes());
        shape.preview.writeBytes(data, data.readerIndex(), missing);
        shape.size += data.readableBytes();
    }

    void end() {
        shapes.get(shapes.size() - 1).complete = true;
    }

    // ---- printed

    void print(PrintWriter out, boolean colour, InspectionReport report) {
        Pen pen = new Pen(out, colour);
        out.println(pen.dim("boundary ") + pen.bold(visible(boundary.value())) + pen.dim(", " + boundary.mediaType()));
        out.println();
        for (int i = 0; i < shapes.size(); i++) {
            Shape shape = shapes.get(i);
            pen.line(shape.delimiterOffset, pen.yellow("--" + visible(boundary.value())));
            printHeaders(pen, shape);
            printBody(pen, shape, shape.complete ? report.parts().get(i).sha256() : null);
        }
        if (report.error() == null) {
            pen.line(closeDelimiterOffset(), pen.yellow("--" + visible(boundary.value()) + "--"));
            pen.line(report.bodySize(), pen.dim("end"));
        }
        out.println();
        for (InspectionReport.Deviation deviation : report.deviations()) {
            out.println(pen.magenta("deviation ")
                    + deviation.kind()
                    + pen.dim(place(deviation.offset(), deviation.part())));
        }
        ErrorAnswer error = report.error();
        if (error == null) {
            out.println(pen.green("good      ") + count(report.parts().size(), "part") + ", "
                    + count(report.bodySize(), "byte"));
        } else {
            printError(pen, out, error, recent);
        }
    }

    /** Prints an error for which there is nothing to draw, because the Content-Type is bad. */
    static void printError(PrintWriter out, boolean colour, ErrorAnswer error) {
        printError(new Pen(out, colour), out, error, new RecentBytes(1));
    }

    private static void printHeaders(Pen pen, Shape shape) {
        byte[] raw = shape.rawHeaders;
        for (int from = 0, to; from < raw.length; from = to) {
            to = from + 1;
            while (to < raw.length && raw[to - 1] != '\n') {
                to++;
            }
            String text = new String(raw, from, to - from, StandardCharsets.UTF_8).stripTrailing();
            int colon = text.indexOf(':');
            if (!text.isEmpty()) {
                pen.line(
                        shape.headerOffset + from,
                        colon < 0
                                ? visible(text)
                                : pen.cyan(visible(text.substring(0, colon))) + visible(text.substring(colon)));
            }
        }
    }

    private static void printBody(Pen pen, Shape shape, @Nullable String sha256) {
        PartHead head = shape.head;
        String what = "part " + head.index() + ": "
                + (head.filename() == null ? "field" : "file " + visible(head.filename()));
        String size = count(shape.size, "byte") + (sha256 == null ? ", cut short" : "");
        pen.line(head.offset(), pen.bold(size) + pen.dim("  (" + what + ")"));
        if (shape.size > 0) {
            pen.continued(preview(shape));
        }
        if (sha256 != null) {
            pen.continued(pen.dim("sha256 ") + sha256);
        }
    }

    private static String preview(Shape shape) {
        byte[] bytes = ByteBufUtil.getBytes(shape.preview);
        String more = shape.size > bytes.length ? " ..." : "";
        for (byte b : bytes) {
            if (b >= 0 && b < ' ' && b != '\t' && b != '\r' && b != '\n') {
                int shown = Math.min(DUMP_WIDTH, bytes.length);
                return ByteBufUtil.hexDump(bytes, 0, shown) + (shape.size > shown ? " ..." : "");
            }
        }
        return '"' + visible(new String(bytes, StandardCharsets.UTF_8)) + '"' + more;
    }

    private long closeDelimiterOffset() {
        if (shapes.isEmpty()) {
            return recent.find(("--" + boundary.value() + "--").getBytes(StandardCharsets.ISO_8859_1));
        }
        Shape last = shapes.get(shapes.size() - 1);
        long end = last.head.offset() + last.size;
        return switch (recent.at(end)) {
            case '\r' -> end + 2;
            case '\n' -> end + 1;
            // The body is empty, and its blank line is the line end of the delimiter.
            default -> end;
        };
    }

    private static void printError(Pen pen, PrintWriter out, ErrorAnswer error, RecentBytes recent) {
        out.println(pen.red("error     ")
                + pen.bold(error.reason())
                + pen.dim(" (" + error.kind() + ")")
                + pen.dim(place(error.offset(), error.part())));
        out.println("          " + visible(error.message()));
        if (error.offset() < recent.start() || recent.end() == 0) {
            return;
        }
        out.println();
        long line = error.offset() / DUMP_WIDTH * DUMP_WIDTH;
        for (int i = -DUMP_LINES_AROUND; i <= DUMP_LINES_AROUND; i++) {
            long from = line + (long) i * DUMP_WIDTH;
            if (from + DUMP_WIDTH > recent.start() && from >= 0 && (from < recent.end() || i == 0)) {
                dumpLine(pen, out, from, error.offset(), recent);
            }
        }
    }

    private static void dumpLine(Pen pen, PrintWriter out, long from, long marked, RecentBytes recent) {
        StringBuilder hex = new StringBuilder();
        StringBuilder text = new StringBuilder();
        for (long offset = from; offset < from + DUMP_WIDTH; offset++) {
            int b = recent.at(offset);
            String digits = b < 0 ? "  " : String.format(Locale.ROOT, "%02x", b);
            String letter = b < 0 ? " " : b < ' ' || b > '~' ? "." : String.valueOf((char) b);
            hex.append(offset - from == DUMP_WIDTH / 2 ? "  " : " ")
                    .append(offset == marked ? pen.red(digits) : digits);
            text.append(offset == marked ? pen.red(letter) : letter);
        }
        out.println(pen.dim(String.format(Locale.ROOT, "%10d  ", from)) + hex + "   " + text);
        if (marked >= from && marked < from + DUMP_WIDTH) {
            int column = (int) (marked - from);
            out.println(INDENT + " ".repeat(1 + 3 * column + (column >= DUMP_WIDTH / 2 ? 1 : 0)) + pen.red("^^"));
        }
    }

    private static String place(long offset, int part) {
        if (offset < 0) {
            return " in the Content-Type";
        }
        return " at offset " + offset + (part < 0 ? "" : ", part " + part);
    }

    private static String count(long number, String thing) {
        return String.format(Locale.ROOT, "%,d %s%s", number, thing, number == 1 ? "" : "s");
    }

    /** {@return {@code text} with what could steer a terminal written as escapes} */
    private static String visible(String text) {
        StringBuilder result = new StringBuilder();
        text.codePoints().forEach(c -> {
            switch (Character.getType(c)) {
                case Character.CONTROL,
                        Character.FORMAT,
                        Character.SURROGATE,
                        Character.PRIVATE_USE,
                        Character.UNASSIGNED,
                        Character.LINE_SEPARATOR,
                        Character.PARAGRAPH_SEPARATOR ->
                    result.append(
                            c == '\r' ? "\\r" : c == '\n' ? "\\n" : c == '\t' ? "\\t" : String.format("\\u{%x}", c));
                default -> result.appendCodePoint(c);
            }
        });
        return result.toString();
    }

    /** Writes lines, in colour or not. */
    private record Pen(PrintWriter out, boolean colour) {
        void line(long offset, String text) {
            out.println(dim(String.format(Locale.ROOT, "%10d  ", offset)) + text);
        }

        void continued(String text) {
            out.println(INDENT + text);
        }

        String bold(String text) {
            return style("1", text);
        }

        String dim(String text) {
            return style("2", text);
        }

        String red(String text) {
            return style("1;31", text);
        }

        String green(String text) {
            return style("32", text);
        }

        String yellow(String text) {
            return style("33", text);
        }

        String magenta(String text) {
            return style("35", text);
        }

        String cyan(String text) {
            return style("36", text);
        }

        private String style(String code, String text) {
            return colour ? "\u001b[" + code + "m" + text + "\u001b[0m" : text;
        }
    }
}
